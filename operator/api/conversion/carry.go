package conversion

import (
	"encoding/json"
	"fmt"
	"slices"
)

// CarriedAnnotation is on objects in v1beta1 that are stored in v1alpha1 with fields that
// v1beta1 does not have. Conversion adds it and takes it away.
const CarriedAnnotation = "monitoring.coreos.com/v1alpha1-fields"

// mostAnnotations is how many bytes of keys and values an API server takes as annotations.
// With more, an object could not be changed in v1beta1 any more.
const mostAnnotations = 256 << 10

// Fields of v1alpha1 that v1beta1 does not have.
const (
	optional     = "optional"     // of references to Secrets, in part
	updateAlerts = "updateAlerts" // of OpsGenie
)

// references are the fields of receivers whose references to Secrets have `optional` in
// v1alpha1 only, by the list that has them. All lists also have httpConfig.bearerTokenSecret.
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

// place is where a field of v1alpha1 belongs. Receivers are found by name, because their
// order may change.
type place struct {
	Receiver string `json:"receiver"`
	Field    string `json:"field"`            // "opsgenieConfigs[0].updateAlerts"
	Secret   string `json:"secret,omitempty"` // "name/key" of a reference: another one has no say
}

// carried is a field with its value.
type carried struct {
	place
	Value bool `json:"value"`
}

// carrying is the part of a conversion that is about such fields.
type carrying struct {
	lost        []carried      // towards v1beta1
	known       map[place]bool // from v1beta1
	meta        []field        // of metadata
	metaEnd     int
	annotations []field
	end         int // of annotations; 0 without any
}

// metadata finds the annotations, and reads and removes the one that carries fields.
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
	own, times := only(c.annotations, CarriedAnnotation)
	if c.toBeta || times != 1 {
		return
	}
	var all []carried
	if json.Unmarshal([]byte(c.text(own.at, own.end)), &all) != nil {
		return
	}
	c.known = map[place]bool{}
	for _, one := range all {
		c.known[one.place] = one.Value
	}
	if len(c.annotations) == 1 && len(c.meta) > 0 { // annotations that were made for it
		c.edits = append(c.edits, removed(c.meta, "annotations"))
		return
	}
	c.edits = append(c.edits, removed(c.annotations, CarriedAnnotation))
}

// slot is where a receiver has, or could have, a field of v1alpha1.
type slot struct {
	place
	object []field
	end    int
	name   string
}

// receiver notes the fields of v1alpha1 in a receiver, or gives them back.
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

// slots are those of one configuration of a receiver.
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

// reference is the slot of a reference to a Secret; none for another value.
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

// carry notes the field of a slot towards v1beta1, and adds it from there.
func (c *conversion) carry(s slot) {
	own, times := only(s.object, s.name)
	if c.toBeta {
		if times != 1 {
			return
		}
		value := string(c.document[own.at:own.end])
		if value == "true" || value == "false" {
			c.lost = append(c.lost, carried{s.place, value == "true"})
		}
		return
	}
	if value, known := c.known[s.place]; known && times == 0 {
		c.edits = append(c.edits, added(s.object, s.end, s.name, fmt.Sprint(value)))
		delete(c.known, s.place) // of several receivers with the name, the first one
	}
}

// annotate adds the annotation for what would be lost, as far as there is room for it.
func (c *conversion) annotate() {
	if len(c.lost) == 0 || c.meta == nil {
		return
	}
	left := mostAnnotations - len(CarriedAnnotation) - len("[]")
	for _, f := range c.annotations {
		if f.name != CarriedAnnotation {
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
	own, times := only(c.annotations, CarriedAnnotation)
	existing, lists := only(c.meta, "annotations")
	switch {
	case times == 1:
		c.edits = append(c.edits, edit{own.at, own.end, string(value)})
	case times > 1 || lists > 1:
	case c.end > 0:
		c.edits = append(c.edits, added(c.annotations, c.end, CarriedAnnotation, string(value)))
	case lists == 1: // null
		c.edits = append(c.edits, edit{existing.at, existing.end, `{"` + CarriedAnnotation + `":` + string(value) + `}`})
	default:
		c.edits = append(c.edits, added(c.meta, c.metaEnd, "annotations", `{"`+CarriedAnnotation+`":`+string(value)+`}`))
	}
}
