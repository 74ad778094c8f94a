"""Evaluation results as terminal tables, HTML pages, plots and JUnit files."""
