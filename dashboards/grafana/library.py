"""The panels that the dashboards are made of, by Grafana's own builder."""

from grafana_foundation_sdk.builders import bargauge, common, logs, loki, prometheus, stat, table, timeseries
from grafana_foundation_sdk.builders import dashboard as builder
from grafana_foundation_sdk.models import common as kinds
from grafana_foundation_sdk.models import dashboard as model
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

PROMETHEUS = model.DataSourceRef("prometheus", "${prometheus_datasource}")
LOKI = model.DataSourceRef("loki", "${loki_datasource}")
ROWS_SHOWN = 25
STEPS_OF_A_TABLE = 200


def reference(index):
    return chr(ord("A") + index)


def query(expression, legend="", instant=False):
    made = prometheus.Dataquery().datasource(PROMETHEUS).expr(expression)
    if legend:
        made = made.legend_format(legend)
    return made.instant() if instant else made.range()


def log_query(expression, instant=False):
    return loki.Dataquery().datasource(LOKI).expr(expression).query_type("instant" if instant else "range")


def finish(panel, title, description, targets, unit, source=PROMETHEUS):
    panel = panel.title(title).description(description).datasource(source).unit(unit)
    for index, target in enumerate(targets):
        panel = panel.with_target(target.ref_id(reference(index)))
    return panel


def last_value():
    return common.ReduceDataOptions().calcs(["lastNotNull"]).fields("").values(False)


def number(title, description, expression, unit="short", steps=(), link=None):
    """One number. `steps`: (from, colour), above the plain colour."""
    thresholds = [model.Threshold(None, "text"), *(model.Threshold(value, colour) for value, colour in steps)]
    panel = stat.Panel().reduce_options(last_value()).graph_mode(kinds.BigValueGraphMode.NONE)
    panel = panel.color_mode(kinds.BigValueColorMode.VALUE).text_mode(kinds.BigValueTextMode.AUTO)
    panel = panel.thresholds(builder.ThresholdsConfig().mode(model.ThresholdsMode.ABSOLUTE).steps(thresholds))
    if link:
        panel = panel.data_links([builder.DashboardLink(link["title"]).url(link["url"])])
    return finish(panel, title, description, [query(expression, instant=True)], unit)


def series(title, description, targets, unit="short", stack=False):
    """`targets`: (expression, legend). States change in steps."""
    legend = common.VizLegendOptions().display_mode(kinds.LegendDisplayMode.TABLE).show_legend(True)
    legend = legend.placement(kinds.LegendPlacement.RIGHT).calcs(["lastNotNull"])
    tooltip = common.VizTooltipOptions().mode(kinds.TooltipDisplayMode.MULTI).sort(kinds.SortOrder.DESCENDING)
    panel = timeseries.Panel().legend(legend).tooltip(tooltip).min(0).fill_opacity(10)
    panel = panel.line_interpolation(kinds.LineInterpolation.STEP_AFTER).show_points(kinds.VisibilityMode.NEVER)
    if stack:
        panel = panel.stacking(common.StackingConfig().mode(kinds.StackingMode.NORMAL).group("A"))
    return finish(panel, title, description, [query(*target) for target in targets], unit)


def bars(title, description, expression, legend, unit="short"):
    panel = bargauge.Panel().orientation(kinds.VizOrientation.HORIZONTAL).reduce_options(last_value()).min(0)
    panel = panel.display_mode(kinds.BarGaugeDisplayMode.BASIC)
    return finish(panel, title, description, [query(expression, legend, instant=True)], unit)


def log_lines(title, description, expression):
    panel = logs.Panel().show_time(True).wrap_log_message(True).enable_log_details(True)
    panel = panel.sort_order(kinds.LogsSortOrder.DESCENDING)
    return finish(panel, title, description, [log_query(expression)], "short", LOKI)


# --- tables


def step(kind, **options):
    return model.DataTransformerConfig(id_val=kind, options=options)


# Labels come first, in this order; then the values, in the order of the queries.
LABELS = (
    *("severity", "alertname", "model", "reason", "gb_id", "family", "commit", "hub", "fixability", "status"),
    *("backend", "toolchain", "mode", "file", "line", "function", "exporter", "job", "pool"),
)
ORDER = {name: index for index, name in enumerate(LABELS)}


def columns_of(names):
    """Grafana's names of the value columns -> ours. With a single query of Prometheus it does not number the column."""
    numbered = {f"Value #{reference(index)}": name for index, name in enumerate(names)}
    return {"Value": names[0], **numbered}


def plain_table(title, description, targets, transformations, overrides=(), unit="short", source=PROMETHEUS):
    panel = table.Panel().show_header(True).cell_height(kinds.TableCellHeight.SM).filterable(True)
    # Otherwise line 1042 is "1.04 K", and a commit of digits alone a number, too.
    panel = panel.override_by_field_type("string", [model.DynamicConfigValue("unit", "string")])
    panel = panel.transformations(transformations)
    # Bounds the subqueries by $__interval, which is the time shown divided by this.
    panel = panel.max_data_points(STEPS_OF_A_TABLE)
    for column, properties in overrides:
        made = [model.DynamicConfigValue(one["id"], one["value"]) for one in properties]
        panel = panel.override_by_name(column, made)
    return finish(panel, title, description, targets, unit, source)


def joined(title, description, columns, sort, hidden=(), overrides=(), ascending=False):
    """`columns`: (name, expression). Rows are joined on the labels that all queries share. A column `None` is a query
    whose labels alone are of interest."""
    names = [name for name, _ in columns]
    renamed = {old: new for old, new in columns_of(names).items() if new}
    dropped = ["Time", *(old for old, new in columns_of(names).items() if not new), *hidden]
    transformations = [
        step("merge"),
        step("organize", excludeByName=dict.fromkeys(dropped, True), renameByName=renamed, indexByName=ORDER),
        step("sortBy", sort=[{"field": sort, "desc": not ascending}], fields={}),
        step("limit", limitField=ROWS_SHOWN),
    ]
    targets = [query(expression, instant=True).format(PromQueryFormat.TABLE) for _, expression in columns]
    return plain_table(title, description, targets, transformations, overrides)


def matrix(title, description, expression, rows, columns, unit="short", overrides=()):
    """One query, its label `rows` down and its label `columns` across."""
    target = query(expression, instant=True).format(PromQueryFormat.TABLE)
    options = {"rowField": rows, "columnField": columns, "valueField": "Value", "emptyValue": "null"}
    head = f"{rows}\\{columns}"
    transformations = [
        step("groupingToMatrix", **options),
        step("organize", excludeByName={}, renameByName={head: rows}, indexByName={}),
    ]
    return plain_table(title, description, [target], transformations, overrides, unit)


def counted_lines(title, description, expression, name, overrides=()):
    """A table of log lines, counted by the labels of a metric query of Loki."""
    transformations = [
        step("organize", excludeByName={"Time": True}, renameByName=columns_of([name]), indexByName=ORDER),
        step("sortBy", sort=[{"field": name, "desc": True}], fields={}),
        step("limit", limitField=ROWS_SHOWN),
    ]
    targets = [log_query(expression, instant=True)]
    return plain_table(title, description, targets, transformations, overrides, source=LOKI)


def unit_of(unit, *columns):
    return [(column, [{"id": "unit", "value": unit}]) for column in columns]


def hidden_column(column):
    """Hides a column and keeps it available for links, which an excluded column is not."""
    return column, [{"id": "custom.hidden", "value": True}]
