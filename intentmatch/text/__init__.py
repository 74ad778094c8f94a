"""Text as code points: normalisation, alignment, typing mistakes, languages and regular expressions."""
