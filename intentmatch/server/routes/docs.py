"""`GET /docs`: the OpenAPI document as one HTML page, made on the server, without scripts."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from intentmatch.server.middleware.request_log import LoggedRoute
from intentmatch.server.routes.pages import page

_BOUNDS = {
    "minLength": "{} or more characters",
    "maxLength": "up to {} characters",
    "minItems": "{} or more items",
    "maxItems": "up to {} items",
    "minimum": "{} or more",
    "maximum": "up to {}",
}
_PLACEHOLDERS: Mapping[str, Any] = {"string": "...", "integer": 1, "number": 1.0, "boolean": True, "array": []}


def docs_route(document: Callable[[], dict[str, Any]]) -> LoggedRoute:
    """Return the route of the page, given what returns the OpenAPI document."""

    async def docs(request: Request) -> Response:
        host = request.headers.get("host") or "localhost"
        base = f"{request.scope['scheme']}://{host}{request.scope.get('root_path', '').rstrip('/')}"
        return page("intentmatch API", _Page(document(), base).html())

    return LoggedRoute("/docs", docs, methods=["GET"], include_in_schema=False)


class _Page:
    """The page of one document, with examples for a server at `base`."""

    def __init__(self, document: Mapping[str, Any], base: str) -> None:
        self._document = document
        self._schemas: Mapping[str, Any] = document["components"]["schemas"]
        self._base = base

    def html(self) -> str:
        info = self._document["info"]
        tags: dict[str, list[str]] = {}
        contents: dict[str, list[str]] = {}
        for path, operations in self._document["paths"].items():
            for verb, operation in operations.items():
                tag = operation["tags"][0]
                tags.setdefault(tag, []).append(self._operation(path, verb, operation))
                anchor = f'<a href="#{_anchor(operation)}"><code>{verb.upper()} {escape(path)}</code></a>'
                contents.setdefault(tag, []).append(f"<li>{anchor} {_text(operation['description'], first=True)}</li>")
        parts = [
            f"<h1>{escape(info['title'])} {escape(info['version'])}</h1>",
            _text(info["description"]),
            '<p>For programs: <a href="openapi.json">openapi.json</a>. Shapes: <a href="#schemas">schemas</a>.</p>',
            *(f"<h2>{escape(tag.capitalize())}</h2><ul>{''.join(items)}</ul>" for tag, items in contents.items()),
            *(part for tag in tags for part in (f"<h2>Calls: {escape(tag)}</h2>", *tags[tag])),
            '<h2 id="schemas">Schemas</h2>',
            *(self._schema(name, schema) for name, schema in self._schemas.items()),
        ]
        return "\n".join(parts)

    def _operation(self, path: str, verb: str, operation: Mapping[str, Any]) -> str:
        heading = f'<h3><span class="verb">{verb.upper()}</span> <code>{escape(path)}</code></h3>'
        return "\n".join(
            [
                f'<section id="{_anchor(operation)}">{heading}',
                _text(operation["description"]),
                f'<p class="note">{escape(self._key(operation))}</p>',
                *self._parameters(operation),
                f"<pre>{escape(self._curl(path, verb, operation))}</pre>",
                *self._body(operation),
                self._responses(operation),
                "</section>",
            ]
        )

    def _key(self, operation: Mapping[str, Any]) -> str:
        names = {name for each in operation.get("security", self._document.get("security", [])) for name in each}
        if any(name.startswith("author") for name in names):
            return "Needs an author key or an admin key."
        if any(name.startswith("admin") for name in names):
            return "Needs an admin key."
        return "Needs a key." if names else "Needs no key."

    def _parameters(self, operation: Mapping[str, Any]) -> Iterator[str]:
        for each in operation.get("parameters", ()):
            place = {"path": "In the path", "header": "Header"}.get(each["in"], "In the query")
            yield f"<p>{place}: <code>{escape(each['name'])}</code>. {_inline(each['description'])}</p>"

    def _body(self, operation: Mapping[str, Any]) -> Iterator[str]:
        schema = _json_schema(operation.get("requestBody", {}))
        if schema is not None:
            yield f"<p>Body: {self._type(schema)}</p>"
            yield self._fields(self._resolved(schema))

    def _responses(self, operation: Mapping[str, Any]) -> str:
        rows = []
        for status, response in operation["responses"].items():
            content = response.get("content", {})
            schema = _json_schema(response)
            shape = self._type(schema) if schema else escape(", ".join(content))
            rows.append((f"<code>{status}</code>", _inline(response["description"]), shape))
        return _table(["status", "meaning", "body"], rows)

    def _curl(self, path: str, verb: str, operation: Mapping[str, Any]) -> str:
        parameters = operation.get("parameters", ())
        examples = {each["name"]: each["schema"]["examples"][0] for each in parameters if each["in"] == "path"}
        # curl chooses GET by itself, and POST for a body.
        said = verb == "get" or (verb == "post" and "requestBody" in operation)
        words = ["curl", "-s", *([] if said else ["-X", verb.upper()])]
        words.append(shlex.quote(self._base + path.format(**examples)))
        if "no key" not in self._key(operation):
            words += ["-H", '"Authorization: Bearer $KEY"']
        words += [part for each in parameters if each["in"] == "header" for part in ("-H", f"'{each['name']}: ...'")]
        schema = _json_schema(operation.get("requestBody", {}))
        if schema is not None:
            shown = operation["requestBody"]["content"]["application/json"].get("examples")
            example = next(iter(shown.values()))["value"] if shown else self._example(self._resolved(schema))
            body = json.dumps(example, ensure_ascii=False)
            words += ["-H", "'Content-Type: application/json'", "-d", shlex.quote(body)]
        return " ".join(words)

    def _example(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """The smallest useful body: required fields, and the text or texts."""
        shown = {"text", "texts", *schema.get("required", ())}
        fields = {name: each for name, each in schema["properties"].items() if name in shown}
        return {name: each.get("examples", [_placeholder(each)])[0] for name, each in fields.items()}

    def _schema(self, name: str, schema: Mapping[str, Any]) -> str:
        described = _text(schema["description"]) if "description" in schema else ""
        return f'<section id="schema-{escape(name)}"><h3>{escape(name)}</h3>{described}{self._fields(schema)}</section>'

    def _fields(self, schema: Mapping[str, Any]) -> str:
        required = schema.get("required", ())
        # Required fields first: they are what a caller has to look for.
        fields = sorted(schema.get("properties", {}).items(), key=lambda field: field[0] not in required)
        rows = [
            (f"<code>{escape(name)}</code>", self._type(field), self._meaning(field, required=name in required))
            for name, field in fields
        ]
        return _table(["field", "type", "meaning"], rows)

    def _meaning(self, field: Mapping[str, Any], *, required: bool) -> str:
        parts = [_inline(field["description"])] if "description" in field else []
        if not required and field.get("default") is not None:
            parts.append(f"Default: <code>{escape(json.dumps(field['default'], ensure_ascii=False))}</code>.")
        elif not required:
            parts.append("Optional.")
        if "examples" in field:
            parts.append(f"Example: <code>{escape(json.dumps(field['examples'][0], ensure_ascii=False))}</code>.")
        return " ".join(parts)

    def _type(self, schema: Mapping[str, Any]) -> str:
        """The type of a value with its bounds, as HTML."""
        if "$ref" in schema:
            name = escape(schema["$ref"].rpartition("/")[2])
            return f'<a href="#schema-{name}">{name}</a>'
        if "anyOf" in schema or "oneOf" in schema:
            return " or ".join(map(self._type, schema.get("anyOf") or schema["oneOf"]))
        if "const" in schema or "enum" in schema:
            values = schema.get("enum", [schema.get("const")])
            return " or ".join(f"<code>{escape(json.dumps(value))}</code>" for value in values)
        kind = escape(schema.get("format", schema.get("type", "any")))
        if kind == "array":
            kind = f"array of {self._type(schema.get('items', {}))}"
        bounds = [words.format(schema[bound]) for bound, words in _BOUNDS.items() if bound in schema]
        return f"{kind} ({', '.join(bounds)})" if bounds else kind

    def _resolved(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self._schemas[schema["$ref"].rpartition("/")[2]]
        return found


def _json_schema(content_holder: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The schema of a request body or response, if its media type is JSON."""
    for media_type, content in content_holder.get("content", {}).items():
        if media_type.endswith("json"):
            schema: Mapping[str, Any] = content["schema"]
            return schema
    return None


def _placeholder(schema: Mapping[str, Any]) -> Any:
    return _PLACEHOLDERS.get(schema.get("type", "string"))


def _anchor(operation: Mapping[str, Any]) -> str:
    return f"call-{escape(operation['operationId'])}"


def _table(header: Sequence[str], rows: Sequence[tuple[str, ...]]) -> str:
    head = "".join(f"<th>{name}</th>" for name in header)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def _text(text: str, *, first: bool = False) -> str:
    """Paragraphs of a docstring as HTML; only the first one, without its tags, if asked."""
    paragraphs = [_inline(" ".join(paragraph.split())) for paragraph in text.strip().split("\n\n")]
    return paragraphs[0] if first else "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)


def _inline(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))
