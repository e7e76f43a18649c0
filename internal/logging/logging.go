package logging

import (
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
)

// Levels are the accepted values of Options.Level, from the most to the least verbose.
// "all" equals "debug"; "none" disables logging.
var Levels = []string{"all", "debug", "info", "warn", "error", "none"}

// Formats are the accepted values of Options.Format. A binary whose flag is
// case-insensitive must convert the value to lower case.
var Formats = []string{"logfmt", "json"}

// Options configure a logger.
type Options struct {
	// Level is one of Levels, case-insensitive; empty means "info".
	Level string
	// Format is one of Formats, lower case only; empty means "logfmt".
	Format string
}

// New returns a logger that writes to w, one line per record.
//
// Errors: an unknown level or format. The text has the flag, its value and the accepted ones.
func New(w io.Writer, o Options) (*slog.Logger, error) {
	level, enabled, err := parseLevel(o.Level)
	if err != nil {
		return nil, err
	}
	ho := &slog.HandlerOptions{AddSource: true, Level: level, ReplaceAttr: present}
	var h slog.Handler
	switch o.Format {
	case "", "logfmt":
		h = slog.NewTextHandler(w, ho)
	case "json":
		h = slog.NewJSONHandler(w, ho)
	default:
		return nil, fmt.Errorf("--log-format=%s: unknown format, want one of %s", o.Format, strings.Join(Formats, ", "))
	}
	if !enabled {
		h = slog.DiscardHandler
	}
	return slog.New(h), nil
}

func parseLevel(s string) (level slog.Level, enabled bool, err error) {
	switch strings.ToLower(s) {
	case "all", "debug":
		return slog.LevelDebug, true, nil
	case "", "info":
		return slog.LevelInfo, true, nil
	case "warn":
		return slog.LevelWarn, true, nil
	case "error":
		return slog.LevelError, true, nil
	case "none":
		return slog.LevelError, false, nil
	}
	return 0, false, fmt.Errorf("--log-level=%s: unknown level, want one of %s", s, strings.Join(Levels, ", "))
}

// levelName maps l to one of the four names. Libraries use levels in between.
func levelName(l slog.Level) string {
	switch {
	case l < slog.LevelInfo:
		return "debug"
	case l < slog.LevelWarn:
		return "info"
	case l < slog.LevelError:
		return "warn"
	}
	return "error"
}

// maxValue is the maximum length of a value in bytes, because a message may quote a whole
// object. A stack trace fits, and container runtimes split lines at 16 kB.
const maxValue = 8 << 10

// present renames the standard attributes and truncates long values.
func present(groups []string, a slog.Attr) slog.Attr {
	a = rename(groups, a)
	switch v := a.Value.Any().(type) {
	case string:
		a.Value = slog.StringValue(excerpt.Of(v, maxValue))
	case error:
		a.Value = slog.StringValue(excerpt.Of(v.Error(), maxValue))
	}
	return a
}

// rename sets the names of the four standard keys. Attributes in groups are left alone.
func rename(groups []string, a slog.Attr) slog.Attr {
	if len(groups) > 0 {
		return a
	}
	switch v := a.Value.Any().(type) {
	case time.Time:
		if a.Key == slog.TimeKey {
			return slog.String("ts", v.UTC().Format("2006-01-02T15:04:05.000Z07:00"))
		}
	case slog.Level:
		if a.Key == slog.LevelKey {
			return slog.String("level", levelName(v))
		}
	case *slog.Source:
		if a.Key == slog.SourceKey {
			return slog.String("caller", filepath.Base(v.File)+":"+strconv.Itoa(v.Line))
		}
	}
	return a
}
