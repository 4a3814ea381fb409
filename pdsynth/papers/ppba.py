"""PPBA (Ma et al. 2021), a reconstruction from its abstract: what its tree and its q do."""

from .ablations import load_changes

PAPER = load_changes("ppba")
