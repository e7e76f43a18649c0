package conversion

import (
	"encoding/json"
	"fmt"
	"slices"
)

// carriedAnnotation is set on v1beta1 objects that are stored in v1alpha1 with fields that
// v1beta1 does not have. Conversion adds and removes it.
const carriedAnnotation = "monitoring.coreos.com/v1alpha1-fields"

// mostAnnotations is the API server's limit for the keys and values of annotations, in bytes.
// An object above it could no longer be updated in v1beta1.
const mostAnnotations = 256 << 10

// Fields of v1alpha1 that v1beta1 does not have.
const (
	optional     = "optional"     // of some references to Secrets
	updateAlerts = "updateAlerts" // of Opsgenie
)

// references maps receiver lists to their references to Secrets that have `optional` only in
// v1alpha1. All lists also have httpConfig.bearerTokenSecret.
var references = map[string][]string{
	"emailConfigs":      {"authPassword", "authSecret"},
	"opsgenieConfigs":   {"apiKey"},
	"pagerdutyConfigs":  {"routingKey", "serviceKey"},
	"pushoverConfigs":   {"userKey", "token"},
	"slackConfigs":      {"apiURL"},
	"telegramConfigs":   {"botToken"},
	"victoropsConfigs":  {"apiKey"},
	"webhookConfigs":    {"urlSecret"},
	"wechatConfigs":     {"apiSecret"},
	"discordConfigs":    nil,
	"msteamsConfigs":    nil,
	"msteamsv2Configs":  nil,
	"rocketchatConfigs": nil,
	"snsConfigs":        nil,
	"webexConfigs":      nil,
}

// place is the position of a v1alpha1 field. Receivers are identified by name, because their
// order may change.
type place struct {
	Receiver string `json:"receiver"`
	Field    string `json:"field"`            // "opsgenieConfigs[0].updateAlerts"
	Secret   string `json:"secret,omitempty"` // "name/key" of a reference; other references are ignored
}

// carriedField is a field with its value.
type carriedField struct {
	place
	Value bool `json:"value"`
}

// carrier is the state of a conversion for these fields.
type carrier struct {
	lost        []carriedField // when converting to v1beta1
	known       map[place]bool // when converting from v1beta1
	meta        []field        // of metadata
	metaEnd     int
	annotations []field
	end         int // of annotations; 0 if there are none
}

// metadata finds the annotations, and decodes and removes carriedAnnotation.
func (c *conversion) metadata() {
	m, times := only(c.top, "metadata")
	if times != 1 || c.document[m.at] != '{' {
		return
	}
	c.meta, c.metaEnd = c.object(m.at)
	a, times := only(c.meta, "annotations")
	if times != 1 || c.document[a.at] != '{' {
		return
	}
	c.annotations, c.end = c.object(a.at)
	own, times := only(c.annotations, carriedAnnotation)
	if c.toBeta || times != 1 {
		return
	}
	var all []carriedField
	if json.Unmarshal([]byte(c.text(own.at, own.end)), &all) != nil {
		return
	}
	c.known = map[place]bool{}
	for _, one := range all {
		c.known[one.place] = one.Value
	}
	if len(c.annotations) == 1 && len(c.meta) > 0 { // the annotations were created for it
		c.edits = append(c.edits, removed(c.meta, "annotations"))
		return
	}
	c.edits = append(c.edits, removed(c.annotations, carriedAnnotation))
}

// slot is a place where a receiver has, or could have, a v1alpha1 field.
type slot struct {
	place
	object []field
	end    int
	name   string
}

// receiver records the v1alpha1 fields of a receiver, or restores them.
func (c *conversion) receiver(at int) (end int) {
	var slots []slot
	name, names := "", 0
	end = c.fields(at, func(f field) int {
		if f.name == "name" {
			end := c.skip(f.at)
			name = c.text(f.at, end)
			names++
			return end
		}
		keys, is := references[f.name]
		if !is {
			return c.skip(f.at)
		}
		return c.items(f.at, func(i, at int) int {
			found, end := c.slots(fmt.Sprintf("%s[%d]", f.name, i), f.name == "opsgenieConfigs", keys, at)
			slots = append(slots, found...)
			return end
		})
	})
	if names != 1 {
		return end
	}
	for _, s := range slots {
		s.Receiver = name
		c.carry(s)
	}
	return end
}

// slots returns the slots of one configuration of a receiver.
func (c *conversion) slots(path string, opsgenie bool, keys []string, at int) (out []slot, end int) {
	all, end := c.object(at)
	if c.document[at] == '{' && opsgenie {
		out = append(out, slot{place{Field: path + "." + updateAlerts}, all, end, updateAlerts})
	}
	for _, f := range all {
		switch {
		case slices.Contains(keys, f.name):
			out = append(out, c.reference(path+"."+f.name, f.at)...)
		case f.name == "httpConfig":
			http, _ := c.object(f.at)
			if token, times := only(http, "bearerTokenSecret"); times == 1 {
				out = append(out, c.reference(path+".httpConfig.bearerTokenSecret", token.at)...)
			}
		}
	}
	return out, end
}

// reference returns the slot of a reference to a Secret, or none for other values.
func (c *conversion) reference(path string, at int) []slot {
	if c.document[at] != '{' {
		return nil
	}
	all, end := c.object(at)
	text := func(name string) string {
		f, times := only(all, name)
		if times != 1 {
			return ""
		}
		return c.text(f.at, f.end)
	}
	return []slot{{place{Field: path + "." + optional, Secret: text("name") + "/" + text("key")}, all, end, optional}}
}

// carry records the field of a slot when converting to v1beta1, and restores it otherwise.
func (c *conversion) carry(s slot) {
	own, times := only(s.object, s.name)
	if c.toBeta {
		if times != 1 {
			return
		}
		value := string(c.document[own.at:own.end])
		if value == "true" || value == "false" {
			c.lost = append(c.lost, carriedField{s.place, value == "true"})
		}
		return
	}
	if value, known := c.known[s.place]; known && times == 0 {
		c.edits = append(c.edits, added(s.object, s.end, s.name, fmt.Sprint(value)))
		delete(c.known, s.place) // only for the first receiver with this name
	}
}

// annotate adds the annotation for the fields that would be lost, while they fit.
func (c *conversion) annotate() {
	if len(c.lost) == 0 || c.meta == nil {
		return
	}
	left := mostAnnotations - len(carriedAnnotation) - len("[]")
	for _, f := range c.annotations {
		if f.name != carriedAnnotation {
			left -= f.end - f.key
		}
	}
	text := []byte{'['}
	for _, one := range c.lost {
		item, err := json.Marshal(one)
		if left -= len(item) + 1; err != nil || left < 0 {
			break
		}
		text = append(append(text, item...), ',')
	}
	if len(text) == 1 {
		return
	}
	text[len(text)-1] = ']'
	value, err := json.Marshal(string(text))
	if err != nil {
		return
	}
	own, times := only(c.annotations, carriedAnnotation)
	existing, lists := only(c.meta, "annotations")
	switch {
	case times == 1:
		c.edits = append(c.edits, edit{own.at, own.end, string(value)})
	case times > 1 || lists > 1:
	case c.end > 0:
		c.edits = append(c.edits, added(c.annotations, c.end, carriedAnnotation, string(value)))
	case lists == 1: // annotations: null
		c.edits = append(c.edits, edit{existing.at, existing.end, `{"` + carriedAnnotation + `":` + string(value) + `}`})
	default:
		c.edits = append(c.edits, added(c.meta, c.metaEnd, "annotations", `{"`+carriedAnnotation+`":`+string(value)+`}`))
	}
}
