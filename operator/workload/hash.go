package workload

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/cespare/xxhash/v2"
	appsv1 "k8s.io/api/apps/v1"
)

// hashInput holds all inputs of a StatefulSet.
type hashInput struct {
	Labels, Annotations map[string]string // not part of the generation
	Generation          int64
	HTTP2               *bool
	Config              Config
	Live                *appsv1.StatefulSetSpec // detects manual edits, which are reverted
	RuleConfigMaps      []string
	TLSSecrets          int
	ConfigInParts       bool   `json:",omitempty"`
	Files               string `json:",omitempty"`
}

// hashInputs holds the inputs of a StatefulSet besides the object and the operator's settings.
type hashInputs struct {
	RuleConfigMaps []string // in any order
	TLSSecrets     int
	ConfigInParts  bool
	HTTP2          *bool  // spec.web.httpConfig.http2
	Files          string // identifies files that the server only reads at startup
}

// InputHash returns [Base.HashOf] for the inputs of a pod. While it equals the annotation of
// the live object, the StatefulSet need not be written.
func (b *Base) InputHash(live *appsv1.StatefulSet, pod PodInputs) (string, error) {
	return b.HashOf(live, hashInputs{
		RuleConfigMaps: pod.RuleConfigMaps, TLSSecrets: pod.TLSSecrets, Files: pod.Files, HTTP2: b.WebConfig().HTTP2(),
		ConfigInParts: pod.ConfigInParts && !b.partsAhead(), // otherwise always in parts
	})
}

// FileHash returns a hash of a file that the server only reads at startup, so that a change
// must replace the pods. It is empty in the single layout, which reproduces the pod of the
// reference exactly.
func (b *Base) FileHash(file []byte) string {
	if b.Single() {
		return ""
	}
	sum := sha256.Sum256(file)
	return hex.EncodeToString(sum[:10])
}

// HashOf returns the value of AnnotationInputHash. While it equals that of the live
// object, the StatefulSet need not be written.
//
// live is the object in the cluster, or nil. Its spec detects manual edits. Because it is
// the spec before a write, a change is followed by another write with the same content. A
// new StatefulSet is written only once: while its generation is 1, its spec is the result
// of the create, including defaults, and is ignored as it was for the create. This
// requires no memory, so it also works after a restart of the operator.
//
// The hash is over JSON, in which equal quantities have the same form ("1000m" is "1").
func (b *Base) HashOf(live *appsv1.StatefulSet, pod hashInputs) (string, error) {
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
		spec.RevisionHistoryLimit = nil // not managed by the operator
		in.Live = &spec
	}
	text, err := json.Marshal(in)
	if err != nil {
		return "", fmt.Errorf("hash inputs of %s: %w", b.PrefixedName(), err)
	}
	return strconv.FormatUint(xxhash.Sum64(text), 10), nil
}
