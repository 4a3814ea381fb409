"""Raw counts, for the curator and for the evaluation of published tables only."""
