package trial

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// plainData replaces the values of a Secret by their plain text.
func plainData(secret map[string]any) {
	data, _ := secret["data"].(map[string]any)
	for key, value := range data {
		data[key] = plain(value)
	}
}

// plain returns the text of a value of a Secret, without its compression.
func plain(value any) string {
	raw, err := base64.StdEncoding.DecodeString(value.(string))
	if err != nil {
		return err.Error()
	}
	r, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return string(raw)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// atomsOf returns what pods and users would miss if it were gone for a moment: scrape jobs, receivers, rule files,
// StatefulSets and claims.
func atomsOf(resource string, o *unstructured.Unstructured) (out []string) {
	name := o.GetName()
	switch resource {
	case "statefulsets":
		return []string{"StatefulSet " + name}
	case "persistentvolumeclaims":
		return []string{"PVC " + name}
	case "services":
		return []string{"Service " + name}
	case "configmaps":
		labels, _, _ := unstructured.NestedMap(o.Object, "metadata", "labels")
		owner := ownerOfRules(labels)
		files, _, _ := unstructured.NestedMap(o.Object, "data")
		for file := range files {
			out = append(out, "rule file "+owner+"/"+file)
		}
	case "secrets":
		data, _, _ := unstructured.NestedMap(o.Object, "data")
		for key, value := range data {
			out = append(out, "file "+name+"/"+key)
			for line := range strings.Lines(plain(value)) {
				if job, ok := strings.CutPrefix(line, "- job_name: "); ok {
					out = append(out, "job "+name+": "+strings.TrimSpace(job))
				}
				if receiver, ok := strings.CutPrefix(line, "- name: "); ok {
					out = append(out, "receiver "+name+": "+strings.TrimSpace(receiver))
				}
			}
		}
	}
	return out
}
