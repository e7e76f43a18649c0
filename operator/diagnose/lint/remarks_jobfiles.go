package lint

import (
	"bytes"
	"fmt"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// mountedFile matches a line of a configuration with a file of a Secret or ConfigMap that the workload must mount.
var mountedFile = lazyregexp.New(`^\s*(?:- +)?(\w+_file):\s+["']?(/etc/prometheus/(?:secrets|configmaps)/[a-z0-9.-]{1,253}/[^\s"']{1,253})`)

// maxMountedFiles is the maximum number of files of one Secret that are reported.
const maxMountedFiles = 20

// ownJobs is the text of additionalScrapeConfigs in a Secret.
type ownJobs struct {
	text []byte
	say  func(line int, text string) // reports a remark at a line
}

// ownJobs returns the jobs in the Secret of additionalScrapeConfigs; without a text if it has none, or is not known.
func (l *linter) ownJobs(self Finding, w dryrun.Workload, f *v1.CommonPrometheusFields) (out ownJobs) {
	of := f.AdditionalScrapeConfigs
	if of == nil {
		return out
	}
	ref := assets.Ref{Kind: assets.Secret, Namespace: w.Object.GetNamespace(), Name: of.Name}
	if secret, err := l.objects.References.Object(ref); err == nil {
		out.text = secret.Values[of.Key]
	}
	out.say = func(line int, text string) {
		l.remarkIn(self, SeverityWarning, "spec.additionalScrapeConfigs", &assets.ContentError{Ref: ref, Key: of.Key, Line: line}, text)
	}
	return out
}

// fileRemarks reports files of which the workload does not mount the object.
func (j ownJobs) fileRemarks(f *v1.CommonPrometheusFields) {
	reported, line := map[string]bool{}, 0
	for text := range bytes.Lines(j.text) {
		line++
		m := mountedFile.Get().FindSubmatch(text)
		if m == nil || mountedBy(f, string(m[2])) {
			continue
		}
		why := unmounted(f, string(m[2]))
		if why == "" || reported[why] {
			continue
		}
		reported[why] = true
		j.say(line, fmt.Sprintf("%s: %s", m[1], why))
		if len(reported) == maxMountedFiles {
			return
		}
	}
}
