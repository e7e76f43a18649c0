package reload

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"unicode"
)

const (
	// excerptSize is how much of an answer's body goes into an error.
	excerptSize = 1 << 10
	// drainSize is how much of an answer's body is read at all.
	drainSize = 64 << 10
)

// answer is what came back for a request, without its secrets.
type answer struct {
	status   int
	text     string // "500 Internal Server Error"
	location string // where a redirect leads
	excerpt  string // start of the body, on one line
	err      error
}

// read takes what http.Client.Do returns.
func read(res *http.Response, err error) answer {
	if err != nil {
		return answer{err: withoutURL(err)}
	}
	defer res.Body.Close()
	a := answer{status: res.StatusCode, text: res.Status}
	body, _ := io.ReadAll(io.LimitReader(res.Body, excerptSize)) // half a reason is better than none
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, drainSize))
	a.excerpt = oneLine(string(body))
	if to := res.Header.Get("Location"); to != "" {
		a.location = "an unreadable place"
		if u, err := url.Parse(to); err == nil {
			a.location = Redact(u)
		}
	}
	return a
}

// describe says why the answer is not the wanted one, without its body.
func (a answer) describe() string {
	s := "answered " + a.text
	switch {
	case a.status/100 == 3 && a.location != "":
		s += ", a redirect to " + a.location + " that is not followed"
	case a.status == http.StatusForbidden:
		s += " (is the lifecycle API enabled?)"
	case a.status == http.StatusNotFound || a.status == http.StatusMethodNotAllowed:
		s += " (is the route prefix part of the URL?)"
	}
	return s
}

func oneLine(s string) string {
	s = strings.ToValidUTF8(s, "")
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}
