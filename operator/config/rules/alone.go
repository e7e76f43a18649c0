package rules

import (
	"fmt"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/kube/share"
)

// alonePercents are the fill levels of the ConfigMaps to try in turn. Files are not split, so they leave gaps.
var alonePercents = []int{95, 80, 60, 45}

// PackAlone is like [Pack], for pods that get rules only from ConfigMaps, of which there are at
// most [budget.RuleConfigMaps]. Files that do not fit are rejected, beginning with the largest
// ones of the namespaces that use the most space.
func (l *LastPlan) PackAlone(base string, live []Bucket, fs Files) (Plan, []share.LeftOut) {
	var left []share.LeftOut
	plan := l.packWithin(base, live, fs, budget.RuleConfigMaps)
	for _, percent := range alonePercents {
		if len(plan.Overflow) == 0 {
			break
		}
		left = append(left, fs.leaveOut(budget.RuleConfigMaps*MaxFileBytes/100*percent)...)
		plan = PackWithin(base, live, fs.Contents(), budget.RuleConfigMaps)
	}
	return plan, left
}

// PackMounted is [PackWithin] for the ConfigMaps that every pod mounts. The plan must not be modified.
func (l *LastPlan) PackMounted(base string, live []Bucket, fs Files) Plan {
	return l.packWithin(base, live, fs, wellknown.MountedRuleConfigMaps)
}

// leaveOut rejects files until the others take at most room bytes.
func (fs Files) leaveOut(room int) []share.LeftOut {
	var at []int
	var objects []share.Object
	for i, f := range fs {
		if f.Err == nil {
			at = append(at, i)
			objects = append(objects, share.Object{
				Namespace: f.Object.Namespace, Name: v1.PrometheusRuleKind + "/" + f.Object.Name, Bytes: len(f.FileName) + f.Bytes,
			})
		}
	}
	full := fmt.Sprintf("%d MiB of rules, for which there are ConfigMaps", budget.RuleConfigMaps*MaxFileBytes>>20)
	return share.LeaveOut(objects, room, full, func(i int, why error) { fs[at[i]] = fs[at[i]].LeftOut(why) })
}

// LeftOut returns the file as rejected for lack of room.
func (f File) LeftOut(why error) File {
	f.CompressedFragment = &CompressedFragment{Fragment: Fragment{FileName: f.FileName, Groups: f.Groups, Rules: f.Rules, Err: why}}
	return f
}
