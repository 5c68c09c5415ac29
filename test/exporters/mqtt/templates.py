"""Renders the templates of a discovery document as Home Assistant does: in Jinja's sandbox, with the message as value_json.

Standard input: a list of {"template", "message"} (a text, for value_template) or {"template", "value"} (for
command_template). Standard output: the rendered texts. What is undefined is an error here; there it would be empty.
"""

import json
import sys

from jinja2 import StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined)
# Home Assistant's own: a number of digits, rounded as Python does.
environment.filters["round"] = lambda value, precision=0: round(float(value), precision)

rendered = []
for each in json.load(sys.stdin):
    if "message" in each:
        variables = {"value": each["message"], "value_json": json.loads(each["message"])}
    else:
        variables = {"value": each["value"]}
    rendered.append(environment.from_string(each["template"]).render(variables).strip())
json.dump(rendered, sys.stdout)
