package workload

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/cespare/xxhash/v2"
	appsv1 "k8s.io/api/apps/v1"
)

// hashInput is everything that can make a StatefulSet outdated.
type hashInput struct {
	Labels, Annotations map[string]string // their changes do not count as a new generation
	Generation          int64
	HTTP2               *bool
	Config              Config
	Live                *appsv1.StatefulSetSpec // finds edits by hand, which are undone
	RuleConfigMaps      []string
	TLSSecrets          int
	ConfigInParts       bool   `json:",omitempty"`
	Files               string `json:",omitempty"`
}

// HashInputs is what makes a StatefulSet outdated besides the object and the
// operator's settings.
type HashInputs struct {
	RuleConfigMaps []string // in any order
	TLSSecrets     int
	ConfigInParts  bool
	HTTP2          *bool  // of spec.web.httpConfig
	Files          string // stands for files that the server reads only when it starts
}

// HashOf is the value of AnnotationInputHash: as long as it is equal to that
// of the live object, the StatefulSet need not be written.
//
// live is what is in the cluster, nil when there is nothing. Its spec finds edits by
// hand. It is the spec before a write, so one more write with the same content
// follows a change. A new StatefulSet is written once: as long as its generation is
// 1, its spec is what the API server made of the create, defaults included, and
// counts as no spec, as it did for the create. This needs no memory, so it also
// holds after a restart of the operator.
//
// The hash is over JSON, in which quantities have one form per value ("1000m" is "1").
func (b *Base) HashOf(live *appsv1.StatefulSet, pod HashInputs) (string, error) {
	in := hashInput{
		Labels:         b.Meta.Labels,
		Annotations:    b.Meta.Annotations,
		Generation:     b.Meta.Generation,
		Config:         b.Config,
		RuleConfigMaps: slices.Sorted(slices.Values(pod.RuleConfigMaps)),
		TLSSecrets:     b.mountedTLSAssets(pod.TLSSecrets),
		ConfigInParts:  pod.ConfigInParts,
		HTTP2:          pod.HTTP2,
		Files:          pod.Files,
	}
	if live != nil && live.Generation != 1 {
		spec := live.Spec
		spec.RevisionHistoryLimit = nil // left to others
		in.Live = &spec
	}
	text, err := json.Marshal(in)
	if err != nil {
		return "", fmt.Errorf("hash inputs of %s: %w", b.PrefixedName(), err)
	}
	return strconv.FormatUint(xxhash.Sum64(text), 10), nil
}
