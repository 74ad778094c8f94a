"""Deployments on engines for many machines. Each engine has a folder of its own and is imported only where it is used."""
