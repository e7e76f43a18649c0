package amconfig

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"text/template"
	"text/template/parse"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/config/templatecost"
)

// Errors about URLs contain neither the URL, which may come from a Secret or contain a
// password, nor the parser's message.
var (
	errURL      = errors.New("is not an http or https URL with a host")
	errTemplate = errors.New("is not a valid template")
	errURLSize  = fmt.Errorf("is longer than %d bytes", budget.URLBytes)
)

// checkURL checks a URL that Alertmanager uses literally.
//
// text: an http or https URL with a host, without quotes, invalid backslash escapes, and
// control characters.
func checkURL(field, text string) error {
	if len(text) > budget.URLBytes {
		return faults.At(field, errURLSize)
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || !json.Valid([]byte(`"`+text+`"`)) {
		return faults.At(field, errURL)
	}
	return nil
}

// checkOptionalURL is checkURL for fields that may be empty.
func checkOptionalURL(field, text string) error {
	if text == "" {
		return nil
	}
	return checkURL(field, text)
}

// isTemplate reports whether Alertmanager treats the text as a template.
func isTemplate(text string) bool { return strings.Contains(text, "{{") }

// checkTemplateURL checks a URL that Alertmanager expands when it sends a notification.
//
// text: a template with any function of notification templates, otherwise as for
// [checkURL]. The expanded URL is not checked.
func checkTemplateURL(field, text string) error {
	if !isTemplate(text) {
		return checkURL(field, text)
	}
	if len(text) > budget.URLBytes {
		return faults.At(field, errURLSize)
	}
	if err := templatecost.Blocks(text); err != nil {
		return faults.At(field, err)
	}
	tree := parse.New(field)
	tree.Mode = parse.SkipFuncCheck // the set of functions depends on the version
	if _, err := tree.Parse(text, "", "", map[string]*parse.Tree{}); err != nil {
		return faults.At(field, errTemplate)
	}
	return nil
}

// checkOptionalTemplateURL is checkTemplateURL for fields that may be unset or empty.
func checkOptionalTemplateURL(field string, text *string) error {
	if text == nil || *text == "" {
		return nil
	}
	return checkTemplateURL(field, *text)
}

// checkLoadedTemplate checks a template that Alertmanager parses when it loads the file.
// At that point, only Go's built-in functions are available.
func checkLoadedTemplate(field, text string) error {
	if len(text) > budget.URLBytes {
		return faults.At(field, errURLSize)
	}
	if err := templatecost.Blocks(text); err != nil {
		return faults.At(field, err)
	}
	if _, err := template.New("").Parse(text); err != nil {
		return faults.At(field, errTemplate)
	}
	spent := templatecost.ForReceivers()
	spent.Next("")
	return faults.At(field, spent.Add(text)) // it may be the value of a Secret
}
