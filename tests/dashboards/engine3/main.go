// Runs queries by the parser and the engine of Prometheus 3 on given series. Reads a JSON object from standard input,
// writes one to standard output; both have series as Prometheus's HTTP API does.
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"
	"sort"
	"strconv"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/annotations"
)

type series struct {
	Metric map[string]string `json:"metric"`
	Values [][2]any          `json:"values"` // [seconds, "value"]
}

// An instant query has no step.
type question struct {
	Query string `json:"query"`
	Start int64  `json:"start"`
	End   int64  `json:"end"`
	Step  int64  `json:"step"`
}

type answer struct {
	Error  string   `json:"error"`
	Result []series `json:"result"`
}

// list is a set of series, in the order of their labels.
type list struct {
	series []storage.Series
	at     int
}

func (l *list) Next() bool                        { l.at++; return l.at <= len(l.series) }
func (l *list) At() storage.Series                { return l.series[l.at-1] }
func (l *list) Err() error                        { return nil }
func (l *list) Warnings() annotations.Annotations { return nil }

func load(given []series) ([]storage.Series, error) {
	var loaded []storage.Series
	for _, one := range given {
		made := promql.Series{Metric: labels.FromMap(one.Metric)}
		for _, pair := range one.Values {
			value, err := strconv.ParseFloat(pair[1].(string), 64)
			if err != nil {
				return nil, err
			}
			made.Floats = append(made.Floats, promql.FPoint{T: int64(pair[0].(float64) * 1000), F: value})
		}
		loaded = append(loaded, promql.NewStorageSeries(made))
	}
	sort.Slice(loaded, func(i, j int) bool { return labels.Compare(loaded[i].Labels(), loaded[j].Labels()) < 0 })
	return loaded, nil
}

func matches(one storage.Series, matchers []*labels.Matcher) bool {
	for _, matcher := range matchers {
		if !matcher.Matches(one.Labels().Get(matcher.Name)) {
			return false
		}
	}
	return true
}

func storageOf(loaded []storage.Series) storage.Queryable {
	choose := func(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
		var found []storage.Series
		for _, one := range loaded {
			if matches(one, matchers) {
				found = append(found, one)
			}
		}
		return &list{series: found}
	}
	return &storage.MockQueryable{MockQuerier: &storage.MockQuerier{SelectMockFunction: choose}}
}

func text(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) }

func run(engine *promql.Engine, from storage.Queryable, asked question) answer {
	start, end := time.Unix(asked.Start, 0), time.Unix(asked.End, 0)
	var query promql.Query
	var err error
	if asked.Step == 0 {
		query, err = engine.NewInstantQuery(context.Background(), from, nil, asked.Query, end)
	} else {
		step := time.Duration(asked.Step) * time.Second
		query, err = engine.NewRangeQuery(context.Background(), from, nil, asked.Query, start, end, step)
	}
	if err != nil {
		return answer{Error: err.Error()}
	}
	defer query.Close()
	done := query.Exec(context.Background())
	if done.Err != nil {
		return answer{Error: done.Err.Error()}
	}
	result := []series{}
	switch found := done.Value.(type) {
	case promql.Vector:
		for _, one := range found {
			values := [][2]any{{float64(one.T) / 1000, text(one.F)}}
			result = append(result, series{one.Metric.Map(), values})
		}
	case promql.Matrix:
		for _, one := range found {
			made := series{Metric: one.Metric.Map()}
			for _, at := range one.Floats {
				made.Values = append(made.Values, [2]any{float64(at.T) / 1000, text(at.F)})
			}
			result = append(result, made)
		}
	default:
		return answer{Error: "neither a vector nor a matrix"}
	}
	return answer{Result: result}
}

func main() {
	var input struct {
		Series  []series   `json:"series"`
		Queries []question `json:"queries"`
	}
	if err := json.NewDecoder(os.Stdin).Decode(&input); err != nil {
		log.Fatal(err)
	}
	loaded, err := load(input.Series)
	if err != nil {
		log.Fatal(err)
	}
	engine := promql.NewEngine(promql.EngineOpts{
		MaxSamples:           50_000_000,
		Timeout:              2 * time.Minute,
		LookbackDelta:        5 * time.Minute,
		EnableAtModifier:     true,
		EnableNegativeOffset: true,
		NoStepSubqueryIntervalFn: func(int64) int64 {
			return time.Minute.Milliseconds()
		},
		Parser: parser.NewParser(parser.Options{}),
	})
	answers := []answer{}
	for _, asked := range input.Queries {
		answers = append(answers, run(engine, storageOf(loaded), asked))
	}
	if err := json.NewEncoder(os.Stdout).Encode(answers); err != nil {
		log.Fatal(err)
	}
}
