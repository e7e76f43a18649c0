package logging_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/logging"
)

func TestLineFormat(t *testing.T) {
	var out bytes.Buffer
	log, err := logging.New(&out, logging.Options{})
	if err != nil {
		t.Fatal(err)
	}
	log.Info("two words", "err", io.ErrUnexpectedEOF, "level", "mine")
	want := regexp.MustCompile(`^ts=\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z level=info caller=logging_test\.go:\d+ msg="two words" err="unexpected EOF" level=mine\n$`)
	if !want.MatchString(out.String()) {
		t.Errorf("line %q does not match %s", out.String(), want)
	}
}

func TestJSON(t *testing.T) {
	var out bytes.Buffer
	log, err := logging.New(&out, logging.Options{Format: "json", Level: "DEBUG"})
	if err != nil {
		t.Fatal(err)
	}
	log.Debug("hello", "n", 3)
	var got struct {
		TS                 time.Time
		Level, Caller, Msg string
		N                  int
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatalf("%q: %v", out.String(), err)
	}
	if got.Level != "debug" || got.Msg != "hello" || got.N != 3 || got.TS.IsZero() || !strings.HasPrefix(got.Caller, "logging_test.go:") {
		t.Errorf("line %q decodes to %+v", out.String(), got)
	}
}

func TestLevels(t *testing.T) {
	for level, want := range map[string]string{
		"":      "info warn error",
		"all":   "debug info warn error",
		"debug": "debug info warn error",
		"Info":  "info warn error",
		"WARN":  "warn error",
		"error": "error",
		"none":  "",
	} {
		t.Run("level "+level, func(t *testing.T) {
			var out bytes.Buffer
			log, err := logging.New(&out, logging.Options{Level: level})
			if err != nil {
				t.Fatal(err)
			}
			log.Debug("m")
			log.Info("m")
			log.Warn("m")
			log.Error("m")
			var got []string
			for _, m := range regexp.MustCompile(`level=(\w+)`).FindAllStringSubmatch(out.String(), -1) {
				got = append(got, m[1])
			}
			if strings.Join(got, " ") != want {
				t.Errorf("logged %v, want %q", got, want)
			}
		})
	}
}

func TestBadOptions(t *testing.T) {
	for want, o := range map[string]logging.Options{
		`--log-level=loud: unknown level, want one of all, debug, info, warn, error, none`: {Level: "loud"},
		`--log-format=JSON: unknown format, want one of logfmt, json`:                      {Format: "JSON"},
	} {
		if _, err := logging.New(io.Discard, o); err == nil || err.Error() != want {
			t.Errorf("New(%+v) = %v, want %s", o, err, want)
		}
	}
}

func TestLevelsInBetweenHaveAName(t *testing.T) {
	var out strings.Builder
	log, err := logging.New(&out, logging.Options{Level: "debug"})
	if err != nil {
		t.Fatal(err)
	}
	for _, level := range []slog.Level{slog.LevelDebug - 4, slog.LevelDebug + 2, slog.LevelInfo, slog.LevelInfo + 1, slog.LevelWarn + 3, slog.LevelError + 4} {
		log.Log(t.Context(), level, "m")
	}
	for _, want := range []string{"level=debug", "level=info", "level=warn", "level=error"} {
		if !strings.Contains(out.String(), want+" ") {
			t.Errorf("no %s in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "+") {
		t.Errorf("a level with an offset:\n%s", out.String())
	}
}

// A rejected object may be quoted in an error, so long values are truncated.
func TestLongValuesAreCut(t *testing.T) {
	long := strings.Repeat("(", 1<<20)
	for format, quote := range map[string]string{"logfmt": "", "json": `"`} {
		var out strings.Builder
		log, err := logging.New(&out, logging.Options{Format: format})
		if err != nil {
			t.Fatal(err)
		}
		log.Warn("object is rejected", "err", errors.New(long))
		log.Warn("object is rejected", slog.Group("object", "reason", long), "after", "seen")
		for line := range strings.Lines(out.String()) {
			if len(line) > 16<<10 {
				t.Errorf("%s: a line of %d bytes", format, len(line))
			}
		}
		if !strings.Contains(out.String(), "((( …") || !strings.Contains(out.String(), "seen"+quote) {
			t.Errorf("%s: the line does not say that it was cut, or ends with the value", format)
		}
	}
}
