package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// objstoreTypes are the kinds of object storage that Thanos supports.
var objstoreTypes = []string{"S3", "GCS", "AZURE", "SWIFT", "COS", "ALIYUNOSS", "BOS", "OCI", "OBS", "FILESYSTEM"}

// objstoreRemarks reports a configuration of object storage with which Thanos does not start. The
// operator passes it on unread. Messages never contain its values.
func (l *linter) objstoreRemarks(self Finding, w dryrun.Workload) {
	var sel *corev1.SecretKeySelector
	field := "spec.objectStorageConfig"
	switch o := w.Object.(type) {
	case *v1.Prometheus:
		if o.Spec.Thanos != nil {
			sel, field = o.Spec.Thanos.ObjectStorageConfig, "spec.thanos.objectStorageConfig"
		}
	case *v1.ThanosRuler:
		sel = o.Spec.ObjectStorageConfig
	}
	if sel == nil {
		return
	}
	ref := assets.Ref{Kind: assets.Secret, Namespace: w.Object.GetNamespace(), Name: sel.Name}
	known, err := l.objects.References.Object(ref)
	text, has := known.Values[sel.Key]
	if err != nil || !has {
		return // reported elsewhere
	}
	line, reason := objstoreFault(text)
	if reason == "" {
		return
	}
	self.Severity, self.Code, self.Field = SeverityWarning, CodeRemark, field
	self.Message = fmt.Sprintf("Thanos does not start with the value of key %q in %s: %s", sel.Key, ref, reason)
	l.add(l.inContent(self, &assets.ContentError{Ref: ref, Key: sel.Key, Line: line}), "")
}

// objstoreFault returns the first fault of a configuration of object storage with its line, from 1; an
// empty reason if none is found.
func objstoreFault(text []byte) (line int, reason string) {
	var doc yaml.Node
	if yaml.Unmarshal(text, &doc) != nil || len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return 0, "" // possibly a placeholder
	}
	root := doc.Content[0]
	kind, config := valueOf(root, "type"), valueOf(root, "config")
	for i := 0; i+1 < len(root.Content); i += 2 {
		if key := root.Content[i]; !slices.Contains([]string{"type", "config", "prefix"}, key.Value) {
			if plainKey.MatchString(key.Value) {
				return key.Line, key.Value + " is no key here: it belongs below config, beside which only type and prefix stand"
			}
			return key.Line, "a key is none of type, config and prefix"
		}
	}
	switch {
	case kind == nil:
		return root.Line, "type is missing, such as type: S3"
	case !slices.Contains(objstoreTypes, strings.ToUpper(kind.Value)):
		return kind.Line, "type is none of " + strings.Join(objstoreTypes, ", ")
	case config == nil || config.Kind != yaml.MappingNode:
		return kind.Line, "config is missing, which has the bucket and the rest"
	case !strings.EqualFold(kind.Value, "S3"):
		return 0, ""
	}
	switch endpoint := valueOf(config, "endpoint"); {
	case endpoint == nil || endpoint.Value == "":
		return config.Line, "config.endpoint is missing, a host such as s3.eu-west-1.amazonaws.com"
	case strings.Contains(endpoint.Value, "/"):
		return endpoint.Line, "config.endpoint is a host, or host:port, without https:// and without a path; for plain HTTP write insecure: true"
	}
	return 0, ""
}

// plainKey matches names of settings, as opposed to values at the wrong place.
var plainKey = regexp.MustCompile(`^[a-z][a-z_]{1,30}$`)

// valueOf returns the value of a key of a mapping; nil if there is none.
func valueOf(n *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}
