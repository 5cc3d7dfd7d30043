"""What the four dashboards have in common: variables, annotations, links and the layout."""

from grafana_foundation_sdk.builders import dashboard as builder
from grafana_foundation_sdk.models import dashboard as model
from library import PROMETHEUS
from links import VARIABLES
from queries import FAMILY, GROUP, JOB, MODEL, appeared

# A plain ".*" stops at a line break, and a label may hold one. It also matches series without the label: no pool.
EVERYTHING = "(?s).*"
DASHBOARDS = ("overview", "reasons", "model", "operations")


def source(kind):
    title = f"{kind.capitalize()} data source"
    return builder.DatasourceVariable(f"{kind}_datasource").label(title).type(kind)


def choice(name, label, definition):
    made = builder.QueryVariable(name).label(label).datasource(PROMETHEUS).multi(True).include_all(True)
    made = made.query({"query": definition, "refId": name}).all_value(EVERYTHING)
    made = made.sort(model.VariableSort.ALPHABETICAL_ASC)
    made = made.current(model.VariableOption(True, ["All"], ["$__all"]))
    return made.refresh(model.VariableRefresh.ON_TIME_RANGE_CHANGED)


def interval(name, label, values, chosen):
    options = [model.VariableOption(value == chosen, value, value) for value in values]
    made = builder.IntervalVariable(name).label(label).values(",".join(values)).auto(False)
    return made.options(options).current(model.VariableOption(True, chosen, chosen))


def text(name, label, value):
    option = model.VariableOption(True, value, value)
    return builder.TextBoxVariable(name).label(label).default_value(value).current(option).options([option])


def variables(shown):
    """All dashboards have all variables, so that a link keeps them. Those that a dashboard does not use are hidden."""
    made = {
        "prometheus_datasource": source("prometheus"),
        "loki_datasource": source("loki"),
        "job": choice("job", "Job", "label_values(breakwatch_build_info, job)"),
        "pool": choice("pool", "Pool", 'label_values(breakwatch_build_info{job=~"$job"}, pool)'),
        "family": choice("family", "Family", f"label_values(breakwatch_model_status{{{GROUP}}}, family)"),
        "model": choice("model", "Model", f"label_values(breakwatch_model_status{{{FAMILY}}}, model)"),
        "reason": choice("reason", "Reason", f"label_values(compile_breaks_total{{{MODEL}}}, reason)"),
        "compare": interval("compare", "Compare with", ("1h", "6h", "1d", "7d", "30d"), "1d"),
        "breakwatch_url": text("breakwatch_url", "breakwatch's page", "http://127.0.0.1:9723"),
    }
    assert tuple(made) == VARIABLES
    hidden = model.VariableHide.HIDE_VARIABLE
    return [one if name in shown else one.hide(hidden) for name, one in made.items()]


class Annotation(model.AnnotationQuery):
    """Of Prometheus. The builder does not know the texts of one."""

    texts: dict

    def to_json(self):
        return super().to_json() | self.texts

    def build(self):
        return self


def annotation(name, color, expression, title, text, at_value=False):
    """`at_value`: the value is the time, in ms; otherwise the times at which there is a value."""
    made = Annotation(name, PROMETHEUS, icon_color=color, expr=expression)
    made.texts = {"titleFormat": title, "textFormat": text, "tagKeys": "job,pool", "step": "60s"}
    if at_value:
        made.texts["useValueForTime"] = True
    return made


def annotations():
    ended = f"breakwatch_sweep_last_success_timestamp_seconds{JOB} * 1000"
    toolchain = appeared("breakwatch_toolchain_info", "toolchain, torch, transformers, python", "breakwatch_build_info")
    reason = appeared("reason:compile_models:count", "reason, gb_id", "breakwatch:models_tracked:count")
    versions = "torch {{torch}}, transformers {{transformers}}, Python {{python}}"
    return [
        annotation("Complete sweeps", "blue", ended, "Sweep finished", "{{job}} {{pool}}", at_value=True),
        annotation("New toolchain", "purple", toolchain, "Toolchain {{toolchain}}", versions),
        annotation("New reason", "orange", reason, "New reason {{gb_id}}", "{{reason}}"),
    ]


def menu():
    """The other dashboards, with the variables and the time of this one."""
    link = builder.DashboardLink("breakwatch").type(model.DashboardLinkType.DASHBOARDS).tags(["breakwatch"])
    return link.icon("external link").include_vars(True).keep_time(True)


def assemble(name, title, description, shown, rows, since="now-30d"):
    """`rows`: {title: [(width, height, panel), ...]}; the panels of a line are 24 wide together."""
    made = builder.Dashboard(f"breakwatch: {title}").uid(f"breakwatch-{name}").description(description)
    made = made.tags(["breakwatch", "pytorch"]).readonly().version(1).timezone("browser").refresh("5m")
    made = made.time(since, "now").tooltip(model.DashboardCursorSync.CROSSHAIR).link(menu())
    made = made.variables(variables(shown)).annotations(annotations())
    ids = iter(range(1, 1000))
    for row, cells in rows.items():
        made = made.with_row(builder.Row(row).id(next(ids)))
        for width, height, panel in cells:
            made = made.with_panel(panel.span(width).height(height).id(next(ids)))
    return made.build()
