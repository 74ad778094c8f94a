"""Requests and responses of the HTTP API, as pydantic models; the OpenAPI document is made from them."""
