"""Links from cells: to the other dashboards with all variables kept, to breakwatch's page and to the Hub.

Names of models and reasons may hold any character, so a name in a URL is always percent-encoded.
"""

VARIABLES = (
    "prometheus_datasource",
    "loki_datasource",
    "job",
    "pool",
    "family",
    "model",
    "reason",
    "compare",
    "breakwatch_url",
)


def to_dashboard(name, **chosen):
    """The address of a dashboard: the variables as they are, but those in `chosen`."""
    kept = [f"${{{variable}:queryparam}}" for variable in VARIABLES if variable not in chosen]
    new = [f"var-{variable}={value}" for variable, value in chosen.items()]
    return f"/d/breakwatch-{name}?" + "&".join([*kept, *new, "${__url_time_range}"])


def to_page(*parts):
    return "${breakwatch_url:raw}/#/" + "/".join(parts)


def link(title, url, new_tab=False):
    return {"title": title, "url": url, "targetBlank": new_tab}


def on(column, *links):
    return column, [{"id": "links", "value": list(links)}]


CELL = "${__value.raw:percentencode}"
HUB = "https://huggingface.co/${__value.raw}"

MODEL_CELL = on(
    "model",
    link("History and sites of this model", to_dashboard("model", model=CELL)),
    link("Reasons of this model", to_dashboard("reasons", model=CELL)),
    link("Its graphs and breaks on breakwatch's page", to_page("models", CELL), new_tab=True),
)
REASON_CELL = on(
    "reason",
    link("Models and sites of this reason", to_dashboard("reasons", reason=CELL)),
    link("Models with this reason, in detail", to_dashboard("model", reason=CELL)),
    link("This reason on breakwatch's page", to_page("reasons", CELL), new_tab=True),
)
FAMILY_CELL = on(
    "family",
    link("Only this family", to_dashboard("overview", family=CELL)),
    link("Reasons in this family", to_dashboard("reasons", family=CELL)),
)
ABOUT_CELL = on("gb_id", link("About this reason", "${__data.fields.url:raw}", new_tab=True))
HUB_CELL = on("hub", link("On the Hub", HUB, new_tab=True))
HUB_COMMIT_CELL = on("hub", link("This commit on the Hub", HUB + "/tree/${__data.fields.commit}", new_tab=True))
