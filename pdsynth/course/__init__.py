"""The course's wing: widgets, the panels made of them, and the exercises. The library never imports it."""
