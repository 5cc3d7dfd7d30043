"""Grafana's panels: only the kinds and settings that the dashboard needs."""

PROMETHEUS = {"type": "prometheus", "uid": "${datasource}"}
LOKI = {"type": "loki", "uid": "${loki}"}


def target(expr, legend="", table=False, instant=False):
    made = {"datasource": PROMETHEUS, "expr": expr, "instant": instant or table, "range": not (instant or table)}
    if legend:
        made["legendFormat"] = legend
    if table:
        made["format"] = "table"
    return made


def panel(kind, title, description, targets, unit="short", options=None, defaults=None, datasource=PROMETHEUS, **more):
    for index, one in enumerate(targets):
        one["refId"] = chr(ord("A") + index)
    return {
        "type": kind,
        "title": title,
        "description": description,
        "datasource": datasource,
        "targets": targets,
        "fieldConfig": {"defaults": {"unit": unit, **(defaults or {})}, "overrides": more.pop("overrides", [])},
        "options": options or {},
        **more,
    }


def stat(title, description, expr, unit="short", steps=None):
    thresholds = {"mode": "absolute", "steps": steps or [{"color": "text", "value": None}]}
    options = {
        "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
        "colorMode": "value",
        "graphMode": "none",
        "textMode": "auto",
    }
    return panel("stat", title, description, [target(expr, instant=True)], unit, options, {"thresholds": thresholds})


def series(title, description, targets, unit="short", stack=False):
    custom = {"drawStyle": "line", "lineInterpolation": "stepAfter", "fillOpacity": 10, "showPoints": "never"}
    if stack:
        custom["stacking"] = {"mode": "normal", "group": "A"}
    options = {
        "legend": {"displayMode": "table", "placement": "right", "calcs": ["lastNotNull"]},
        "tooltip": {"mode": "multi", "sort": "desc"},
    }
    return panel("timeseries", title, description, targets, unit, options, {"custom": custom, "min": 0})


def bars(title, description, expr, legend, unit="short"):
    options = {
        "orientation": "horizontal",
        "displayMode": "basic",
        "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
    }
    return panel("bargauge", title, description, [target(expr, legend, instant=True)], unit, options, {"min": 0})


def link(column, *links):
    """`links`: (title, URL)."""
    value = [{"title": title, "url": url, "targetBlank": True} for title, url in links]
    return {"matcher": {"id": "byName", "options": column}, "properties": [{"id": "links", "value": value}]}


def column_unit(column, unit):
    return {"matcher": {"id": "byName", "options": column}, "properties": [{"id": "unit", "value": unit}]}


def column_hidden(column):
    """Hides a column and keeps it available for links, which an excluded column is not."""
    return {"matcher": {"id": "byName", "options": column}, "properties": [{"id": "custom.hidden", "value": True}]}


def table(title, description, columns, sort, limit=25, hidden=(), overrides=()):
    """`columns`: (name, expression). Rows are joined on the labels that all queries share."""
    refs = [chr(ord("A") + index) for index in range(len(columns))]
    # With a single query Grafana does not number the value column.
    value = (lambda ref: "Value") if len(columns) == 1 else (lambda ref: f"Value #{ref}")
    renames = {value(ref): name for ref, (name, _) in zip(refs, columns, strict=True)}
    transformations = [
        {"id": "merge", "options": {}},
        {
            "id": "organize",
            "options": {"excludeByName": dict.fromkeys(("Time", *hidden), True), "renameByName": renames},
        },
        {"id": "sortBy", "options": {"sort": [{"field": sort, "desc": True}]}},
        {"id": "limit", "options": {"limitField": limit}},
    ]
    return panel(
        "table",
        title,
        description,
        [target(expr, table=True) for _, expr in columns],
        options={"showHeader": True, "cellHeight": "sm"},
        defaults={"custom": {"filterable": True}},
        transformations=transformations,
        overrides=list(overrides),
    )


def lay_out(rows):
    panels, top = [], 0
    for title, cells in rows:
        panels.append(
            {
                "type": "row",
                "title": title,
                "collapsed": False,
                "panels": [],
                "gridPos": {"x": 0, "y": top, "w": 24, "h": 1},
            }
        )
        top += 1
        left = height = 0
        for width, cell_height, cell in cells:
            if left + width > 24:
                top, left, height = top + height, 0, 0
            cell["gridPos"] = {"x": left, "y": top, "w": width, "h": cell_height}
            left, height = left + width, max(height, cell_height)
            panels.append(cell)
        top += height
    for index, one in enumerate(panels):
        one["id"] = index + 1
    return panels
