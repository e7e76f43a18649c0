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

// filesOfJobs reports files in the Secret of additionalScrapeConfigs of which the workload does not mount the object.
func (l *linter) filesOfJobs(self Finding, w dryrun.Workload, f *v1.CommonPrometheusFields) {
	of := f.AdditionalScrapeConfigs
	if of == nil {
		return
	}
	ref := assets.Ref{Kind: assets.Secret, Namespace: w.Object.GetNamespace(), Name: of.Name}
	secret, err := l.objects.References.Object(ref)
	if err != nil {
		return
	}
	reported, line := map[string]bool{}, 0
	for text := range bytes.Lines(secret.Values[of.Key]) {
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
		at := self
		at.Severity, at.Code, at.Field, at.Message = SeverityWarning, CodeRemark, "spec.additionalScrapeConfigs", fmt.Sprintf("%s, %s: %s", ref, m[1], why)
		l.add(l.inContent(at, &assets.ContentError{Ref: ref, Key: of.Key, Line: line}), "")
		if len(reported) == maxMountedFiles {
			return
		}
	}
}
