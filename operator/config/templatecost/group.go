package templatecost

import (
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
)

// size is the size of the data of one execution.
type size struct {
	elements int // alerts of a notification, or results of a query
	labels   int // of each, and as many annotations
	text     int // length of each name and value
	long     int // length of the value that a template reads by its name
}

// nothing is the smallest one.
var nothing = size{elements: 1, labels: 1, text: 16, long: 16}

// Lengths of data that alerts do not determine.
const (
	shortText     = 64
	urlText       = 256
	elementMemory = 1024 // of an alert without its labels, in Alertmanager
)

// language is the set of functions and data that a program passes to its templates.
type language struct {
	functions map[string]function
	// escaped is the growth of a printed byte.
	escaped int
	// bytes limits the output of a template that does not depend on the data.
	bytes int
	data  *value
	// series is the result of a query.
	series *value
	// memory is the size of the data in the program.
	memory int
}

// notification returns the language of receivers with names of a certain length.
func notification(s size, name int) *language {
	set := labelSet(s)
	alert := &value{of: "alerts", bytes: 2*set.bytes + 512, fields: map[string]*value{
		"Status": textOf(shortText), "Labels": set, "Annotations": set, "StartsAt": moment, "EndsAt": moment,
		"GeneratorURL": textOf(urlText), "Fingerprint": textOf(shortText),
	}}
	alerts := listOf(alert, s.elements)
	alerts.fields = map[string]*value{"Firing": listOf(alert, s.elements), "Resolved": listOf(alert, s.elements)}
	receiver := textOf(shortText + 2*name) // the characters of regular expressions are escaped
	return &language{
		functions: notificationFunctions, escaped: escaped, bytes: budget.TemplateBytes,
		memory: s.elements*(alert.bytes+elementMemory) + s.long,
		data: &value{of: "notifications", bytes: alerts.bytes + 3*set.bytes + receiver.bytes + urlText, other: textOf(s.long), fields: map[string]*value{
			"Receiver": receiver, "Status": textOf(shortText), "NotificationReason": textOf(shortText), "Alerts": alerts,
			"GroupLabels": set, "CommonLabels": set, "CommonAnnotations": set, "ExternalURL": textOf(urlText),
		}},
	}
}

// alert returns the language of the labels and annotations of alerts.
func alert(s size, _ int) *language {
	set, number := labelSet(s), numberOf(0)
	sample := &value{bytes: set.bytes + shortText, fields: map[string]*value{"Labels": set, "Value": number}}
	return &language{
		functions: alertFunctions, escaped: 1, bytes: budget.AlertTemplateBytes,
		memory: 2*set.bytes + elementMemory + s.elements*(sample.bytes+elementMemory) + s.long,
		series: listOf(sample, s.elements),
		data: &value{bytes: 2*set.bytes + urlText, other: textOf(s.long), fields: map[string]*value{
			"Labels": set, "ExternalLabels": set, "ExternalURL": textOf(urlText), "Value": number,
		}},
	}
}

// labelSet returns labels or annotations.
func labelSet(s size) *value {
	text := textOf(s.text)
	pair := &value{bytes: 2*s.text + 16, fields: map[string]*value{"Name": text, "Value": text}}
	texts := listOf(text, s.labels)
	pairs := listOf(pair, s.labels)
	pairs.fields = map[string]*value{"Names": texts, "Values": texts}
	fields := map[string]*value{"SortedPairs": pairs, "Names": texts, "Values": texts}
	rest := &value{bytes: pairs.bytes, count: s.labels, elem: text, other: textOf(s.long), fields: fields}
	set := rest.copied()
	set.fields = map[string]*value{"SortedPairs": pairs, "Names": texts, "Values": texts, "Remove": rest}
	return set
}

const (
	// escaped is the growth of a byte in HTML or in a string of JavaScript.
	escaped = 6
	// trusted is the cost of a template of the owner.
	trusted = 512
)

// others returns the cost of a template that the text does not define. Some of Alertmanager list all alerts.
func others(name string, arg *value) int {
	listing := strings.HasPrefix(name, "__text_alert_list") ||
		strings.Contains(name, ".default.") && !strings.HasPrefix(name, "slack.")
	if listing {
		return plus(trusted, times(arg.bytes, 2*escaped))
	}
	return trusted
}
