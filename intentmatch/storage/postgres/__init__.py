"""A store in PostgreSQL that several processes and machines share: registries with revisions, builds, keys and logs.

This package holds rows and bytes; it does not know what a registry is. Only `database` imports psycopg.
"""
