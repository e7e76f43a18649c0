package web

import (
	_ "embed"
	"encoding/json"
)

// document3 is what the generator in openapi makes of Routes.
//
//go:embed openapi.json
var document3 []byte

func (h *Handler) openAPI(*request) (any, error) { return json.RawMessage(document3), nil }
