"""Raw counts, for the curator and for the evaluation of released tables only."""
