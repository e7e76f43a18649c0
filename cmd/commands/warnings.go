package commands

import (
	"log/slog"
	"sync"
)

// apiWarnings logs what the API server warns of, once each: it repeats warnings about
// deprecated kinds with every request.
type apiWarnings struct {
	log  *slog.Logger
	seen sync.Map // by text
}

// HandleWarningHeader implements rest.WarningHandler. Only code 299 is for people.
func (w *apiWarnings) HandleWarningHeader(code int, _, text string) {
	if code != 299 || text == "" {
		return
	}
	if _, again := w.seen.LoadOrStore(text, true); !again {
		w.log.Warn("the API server warns", "warning", text)
	}
}
