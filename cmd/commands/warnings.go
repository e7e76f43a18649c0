package commands

import (
	"log/slog"
	"sync"
)

// apiWarnings logs each warning of the API server once, because the server repeats
// warnings about deprecated kinds in every response.
type apiWarnings struct {
	log  *slog.Logger
	seen sync.Map // by text
}

// HandleWarningHeader implements [rest.WarningHandler]. Only code 299 is meant for users.
func (w *apiWarnings) HandleWarningHeader(code int, _, text string) {
	if code != 299 || text == "" {
		return
	}
	if _, again := w.seen.LoadOrStore(text, true); !again {
		w.log.Warn("the API server warns", "warning", text)
	}
}
