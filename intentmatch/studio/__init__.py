"""The studio: pages on which people try, edit and understand a registry, built with NiceGUI.

`app.studio_app` returns the pages as an ASGI app for a `host.Host`, which gives them bots and visitors. Every screen is
a module of its own that calls the functions of `authoring`, `evaluation`, `inbox` and `lint`, as commands and the HTTP
API do.
"""
