"""The course's wing: widgets, panels and exercises. The library never imports it."""
