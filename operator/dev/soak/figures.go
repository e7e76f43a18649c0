package soak

import _ "embed"

// Figures has the tables of the last run that was recorded.
//
//go:embed figures.md
var Figures string
