package configsecret

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/internal/parts"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/config/document"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// slots are the Secrets that may hold parts of a workload's configuration, by number. A part named
// by the list in the cluster is never overwritten: changes go into other slots, so a starting pod
// can read the old version or the new one at any time.
type slots map[int]*slot

type slot struct {
	key    string // name of the only key in the live Secret, if the workload owns it
	digest string // SHA-256 of its value, as returned by apply.DigestSecret
	named  bool   // named by the list in the cluster
	taken  bool   // holds a part of the wanted configuration
}

// slotsLook is the pause before the next search for a free slot.
const slotsLook = time.Minute

// liveSlots returns the slots that this workload may use: Secrets with another owner are excluded.
func liveSlots(b *workload.Base, live engine.Live) slots {
	out := make(slots, workload.ConfigParts)
	named := namedParts(live.Secrets[b.ConfigSecretName()], b)
	for i := 1; i <= workload.ConfigParts; i++ {
		there := live.Secrets[b.ConfigPartName(i)]
		if there != nil && !b.Owns(there) {
			continue
		}
		s := &slot{}
		if there != nil {
			s.named = named(i)
			if len(there.StringData) == 1 {
				for s.key, s.digest = range there.StringData {
				}
			}
		}
		out[i] = s
	}
	return out
}

// namedParts returns a function that reports whether the list in the live configuration Secret
// names a part. If the annotation is missing, every part counts as named.
func namedParts(main *corev1.Secret, b *workload.Base) func(int) bool {
	if main == nil || !b.Owns(main) || !inParts(main) {
		return func(int) bool { return false }
	}
	text, known := main.Annotations[wellknown.AnnotationConfigParts]
	numbers := strings.Split(text, ",")
	return func(i int) bool { return !known || slices.Contains(numbers, strconv.Itoa(i)) }
}

// inParts reports whether a configuration Secret holds the list of parts.
func inParts(main *corev1.Secret) bool {
	_, listed := main.StringData[parts.ListName]
	return listed
}

// room returns the maximum number of parts: the next version must fit beside the current one.
func (s slots) room() int { return len(s) / 2 }

// take assigns a slot to each part: the one that already holds it, otherwise the first free one in order.
//
// Errors: there are too few free slots.
func (s slots) take(content []document.Part, key func(int) string, order []int) ([]int, error) {
	out := make([]int, len(content))
	for n, p := range content {
		for _, i := range order {
			if t := s[i]; t != nil && !t.taken && t.key == key(i) && t.digest == string(p.Sum[:]) {
				t.taken, out[n] = true, i
				break
			}
		}
	}
	for n := range content {
		for _, i := range order {
			if t := s[i]; out[n] == 0 && t != nil && !t.taken && !t.named {
				t.taken, out[n] = true, i
			}
		}
		if out[n] == 0 {
			// Secrets with another owner are not watched, so their deletion triggers no event.
			return nil, &engine.WaitError{For: slotsLook, Reason: fmt.Sprintf(
				"no free Secret for a part of the configuration: all %d of %d Secrets that do not belong to another object are in use", len(s), workload.ConfigParts)}
		}
	}
	return out, nil
}

// upwards and downwards return orders of slots. Configuration and rules start at opposite ends, so
// they seldom collide.
func upwards() (out []int) {
	for i := 1; i <= workload.ConfigParts; i++ {
		out = append(out, i)
	}
	return out
}

func downwards() []int {
	out := upwards()
	slices.Reverse(out)
	return out
}

// putStream writes the parts of a stream into slots and returns their list.
func (w *writer) putStream(s slots, content []document.Part, key func(int) string, order []int) (parts.Stream, error) {
	numbers, err := s.take(content, key, order)
	if err != nil {
		return nil, err
	}
	var out parts.Stream
	for n, p := range content {
		secret := w.Secret(w.ConfigPartName(numbers[n]), map[string][]byte{key(numbers[n]): p.Data})
		w.out.Parts[secret.Name] = true
		w.put(secret, map[string][sha256.Size]byte{key(numbers[n]): p.Sum})
		out = append(out, fileOf(key(numbers[n]), p))
	}
	return out, nil
}

func fileOf(name string, p document.Part) parts.File {
	return parts.File{Name: name, SHA256: hex.EncodeToString(p.Sum[:])}
}

// annotate records the used slots in an annotation of the Secret with the list.
func (s slots) annotate(main *corev1.Secret) *corev1.Secret {
	var numbers []string
	for _, i := range slices.Sorted(maps.Keys(s)) {
		if s[i].taken {
			numbers = append(numbers, strconv.Itoa(i))
		}
	}
	main.Annotations = workload.Overlay(main.Annotations, map[string]string{wellknown.AnnotationConfigParts: strings.Join(numbers, ",")})
	return main
}

// surplusParts removes the workload's parts that are no longer needed.
func (w *writer) surplusParts() {
	for i := range workload.ConfigParts {
		name := w.ConfigPartName(i + 1)
		if there := w.live.Secrets[name]; there != nil && w.Owns(there) && !w.out.Parts[name] {
			surplus := &corev1.Secret{ObjectMeta: w.Identity(name)}
			w.out.Steps = append(w.out.Steps, apply.Step{Verb: apply.Remove, Object: surplus})
		}
	}
}
