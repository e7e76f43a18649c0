package livetargets

import (
	"encoding/base64"
	"encoding/json"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/targets/targetset"
)

// cursor is the position at which a page of a list begins, encoded as a continue token.
type cursor struct {
	Workload catalog.Ref
	Job      string
	At       int            // index of the job, used if it no longer exists
	Group    *targetset.Key // nil: the first
	Row      int            // index in the group
	Gap      int            // 1-based index in the gaps of the job; 0: in its groups
}

func (c *cursor) String() string {
	if c == nil {
		return ""
	}
	text, err := json.Marshal(c)
	if err != nil {
		panic(err) // strings and numbers always marshal
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// parseCursor decodes the output of String.
//
// Errors: 400.
func parseCursor(text string) (*cursor, error) {
	if text == "" {
		return nil, nil
	}
	var out cursor
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil || out.Row < 0 || out.At < 0 || out.Gap < 0 {
		return nil, apierrors.NewBadRequest(`parameter "continue": not one of an answer of this list`)
	}
	return &out, nil
}

// after reports whether the cursor is past a row of its job.
func (c *cursor) after(group targetset.Key, row int) bool {
	if c == nil || c.Group == nil {
		return false
	}
	order := group.Compare(*c.Group)
	return order < 0 || order == 0 && row < c.Row
}

// begin returns the index of the first job on the page.
func (c *cursor) begin(jobs []openJob) int {
	if c == nil {
		return 0
	}
	for i, j := range jobs {
		if j.of == c.Workload && j.Name == c.Job {
			return i
		}
	}
	c.Group, c.Row, c.Gap = nil, 0, 0 // the job no longer exists
	for i, j := range jobs {
		if order := compareRefs(j.of, c.Workload); order > 0 || order == 0 && j.at >= c.At {
			return i
		}
	}
	return len(jobs)
}
