package prometheus

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/internal/volume"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/apply"
	"github.com/firekeeper-dev/firekeeper/operator/delivery"
	"github.com/firekeeper-dev/firekeeper/operator/document"
	"github.com/firekeeper-dev/firekeeper/operator/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/rules"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// Plan is what a reconciliation wants to write, in order: Content, then the
// annotations of the pods, then Workload.
type Plan struct {
	Content  []apply.Step // Secrets and ConfigMaps
	Workload []apply.Step // the Service and the StatefulSets, or the DaemonSet
	// Hash stands for everything in Content that reaches running pods.
	Hash string
	// Config is the finished configuration; empty when it is left to the user.
	Config document.Document
	// Rules are the files of every rule ConfigMap after Content is written.
	Rules map[string]map[string]string
	sums  map[string][sha256.Size]byte // of the rule files' contents

	slices   [][]byte                     // of the compressed configuration, in order
	parts    map[string]bool              // names of the Secrets beside the first that hold it
	overflow map[string][sha256.Size]byte // rule files that come with it, with their sums
	archived int                          // bytes of these files
	// Reloaders says where the pods' reloaders tell what they have; no ports
	// when they cannot be reached from outside.
	Reloaders delivery.Pod
	// Dropped names what the version does not know and was left out, sorted.
	Dropped []string
	// Growths are the claims that must grow before Workload.
	Growths []Growth
	// Larger tells of claims that are larger than asked for, Unbound of claims of
	// another size that cannot be resized yet.
	Larger, Unbound []string
	// Warnings are remarks for the user, sorted.
	Warnings []string
}

// Desired decides what should exist for an owner. Same arguments, same result: the
// assembler only remembers compressed chunks.
//
// Errors: a setting of the owner is wrong: nothing is to be written. TooLargeError:
// the plan may have a Workload, and no Content.
func Desired(o Owner, in Inputs, cfg workload.Config, docs *Documents) (Plan, error) {
	owner := o.Workload(cfg)
	plan := Plan{Reloaders: reloaders(o, cfg)}
	var taking []apply.Step
	if o.Server != nil {
		taking = plan.ruleSteps(owner, in)
	}
	err := plan.config(owner, cfg, in, docs)
	if tooLarge, ok := errors.AsType[*TooLargeError](err); ok {
		return withheld(o, owner, in, cfg, tooLarge)
	}
	if err != nil {
		return plan, err
	}
	plan.Content = append(plan.Content, taking...)
	tlsSecrets := plan.tlsAssets(owner, in)
	web, err := owner.WebConfigSecret()
	if err != nil {
		return plan, err
	}
	plan.Content = append(plan.Content, apply.Step{Verb: apply.Put, Object: web})
	if o.Server != nil {
		plan.Content = append(plan.Content, apply.Step{Verb: apply.Put, Object: owner.ThanosHTTPClientSecret()})
	}
	plan.Hash = plan.contentHash(in)

	pod := workload.Inputs{
		RuleConfigMaps: in.RulePlan.Names, TLSSecrets: tlsSecrets, ConfigInParts: len(plan.parts) > 0 || in.readsParts(),
	}
	if err := plan.workloads(o, owner, in, cfg, pod); err != nil {
		return plan, err
	}
	plan.notes(owner, in)
	if w := memoryWarning(plan.Config.Size, plan.archived, cfg.ReloaderResources.MemoryLimit); w != "" {
		plan.Warnings = append(plan.Warnings, w)
	}
	return plan, nil
}

// workloads wants what runs the pods. pod is what they have in common.
func (plan *Plan) workloads(o Owner, owner *workload.Owner, in Inputs, cfg workload.Config, pod workload.Inputs) error {
	if owner.UsesDaemonSet() {
		return plan.daemonSet(owner, in, pod)
	}
	return plan.shards(o, owner, in, cfg, pod)
}

// ruleSteps follows the plan of the files. ConfigMaps that keep their files are
// wanted too: what else was changed about them is undone. Steps that take files
// away are returned: rules that come with the configuration are written before.
func (plan *Plan) ruleSteps(owner *workload.Owner, in Inputs) (taking []apply.Step) {
	plan.Rules = map[string]map[string]string{}
	plan.sums = make(map[string][sha256.Size]byte, len(in.Rules))
	for _, r := range in.Rules {
		if r.Err == nil {
			plan.sums[r.FileName] = r.Sum
		}
	}
	for _, m := range in.RuleConfigMaps {
		if slices.Contains(in.RulePlan.Names, m.Name) { // neither foreign nor deleted
			plan.Rules[m.Name] = m.Files
		}
	}
	step := func(verb apply.Verb, name string, files map[string]string) apply.Step {
		meta := owner.RuleConfigMapMeta(0)
		meta.Name = name
		return apply.Step{Verb: verb, Object: &corev1.ConfigMap{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: meta, Data: files,
		}}
	}
	kept := maps.Clone(plan.Rules)
	for i, s := range in.RulePlan.Steps {
		delete(kept, s.Name)
		next := step(apply.Put, s.Name, s.Files)
		if s.Verb == rules.Delete {
			next = step(apply.Remove, s.Name, nil)
		} else {
			plan.Rules[s.Name] = s.Files
		}
		if i < in.RulePlan.Late {
			plan.Content = append(plan.Content, next)
		} else {
			taking = append(taking, next)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(kept)) {
		plan.Content = append(plan.Content, step(apply.Put, name, kept[name]))
	}
	return taking
}

var (
	scrapeConfigs   = document.NewPiece("scrape_configs", []byte(promconfig.ScrapeConfigs))
	noScrapeConfigs = document.NewPiece("none", []byte(promconfig.NoScrapeConfigs))
)

// config assembles the configuration, or makes sure that its Secret exists when
// its content is the user's.
func (plan *Plan) config(owner *workload.Owner, cfg workload.Config, in Inputs, docs *Documents) error {
	if in.Frame == nil {
		plan.Content = append(plan.Content, apply.Step{Verb: apply.PutIfNone, Object: owner.ConfigSecret([]byte{})})
		return nil
	}
	pieces := make([]*document.Piece, 0, len(in.Monitors)+6)
	pieces = append(pieces, document.NewPiece("head", in.Frame.Head), scrapeConfigs, document.Fence)
	jobs := len(in.Frame.Additional)
	shared := true // the pieces before are those of other owners too
	for _, section := range in.Frame.Sections() {
		if section == promconfig.AdditionalJobs {
			pieces = append(pieces, document.Fence, document.NewPiece("additional", in.Frame.Additional))
			shared = false
			continue
		}
		if !shared {
			pieces, shared = append(pieces, document.Fence), true
		}
		for _, m := range in.Monitors {
			if m.Kind == section && m.Err == nil && m.Piece.Size() > 0 {
				pieces = append(pieces, m.Piece)
				jobs++
			}
		}
	}
	if jobs == 0 {
		pieces[1] = noScrapeConfigs
	}
	if shared {
		pieces = append(pieces, document.Fence)
	}
	pieces = append(pieces, document.NewPiece("tail", in.Frame.Tail))
	var err error
	if plan.Config, err = docs.config.Build(pieces); err != nil {
		return err
	}
	return plan.spread(owner, cfg, in, docs)
}

// tlsAssets writes the TLS asset Secrets and removes those that are not needed
// any more. It returns how many there are.
func (plan *Plan) tlsAssets(owner *workload.Owner, in Inputs) int {
	files := map[string][]byte{}
	if in.Frame != nil {
		maps.Copy(files, in.Frame.Files)
	}
	for _, m := range in.Monitors {
		if m.Err == nil {
			maps.Copy(files, m.Files)
		}
	}
	wanted := map[string]bool{}
	secrets := owner.TLSAssetSecrets(files, in.TLSFiles)
	for _, s := range secrets {
		wanted[s.Name] = true
		plan.Content = append(plan.Content, apply.Step{Verb: apply.Put, Object: s})
	}
	base := strings.TrimSuffix(owner.TLSAssetSecretName(0), "0")
	for _, name := range slices.Sorted(maps.Keys(in.Secrets)) {
		if rest, ok := strings.CutPrefix(name, base); ok && isNumber(rest) && !wanted[name] && owner.Owns(in.Secrets[name]) {
			surplus := &corev1.Secret{ObjectMeta: owner.Identity(name)}
			plan.Content = append(plan.Content, apply.Step{Verb: apply.Remove, Object: surplus})
		}
	}
	return len(secrets)
}

// tlsFiles says which of the owner's TLS asset Secrets holds a file now.
func tlsFiles(o Owner, secrets map[string]*corev1.Secret) map[string]int {
	out := map[string]int{}
	owner := o.Workload(workload.Config{})
	for i := 0; ; i++ {
		s := secrets[owner.TLSAssetSecretName(i)]
		if s == nil || !owner.Owns(s) {
			return out
		}
		for file := range s.StringData { // their digests, see apply.DigestSecret
			out[file] = i
		}
	}
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// contentHash is the same as long as nothing changed that a running pod could
// pick up: the Secrets it mounts and the rule files, wherever they are. For the
// parts of a configuration their list stands.
func (plan *Plan) contentHash(in Inputs) string {
	h := sha256.New()
	for _, s := range plan.Content {
		secret, ok := s.Object.(*corev1.Secret)
		if !ok || s.Verb != apply.Put || plan.parts[secret.Name] {
			continue
		}
		fmt.Fprintf(h, "%s\x00", secret.Name)
		for _, key := range slices.Sorted(maps.Keys(secret.Data)) {
			fmt.Fprintf(h, "%s\x00%d\x00", key, len(secret.Data[key]))
			h.Write(secret.Data[key])
		}
	}
	for _, r := range in.Rules {
		if r.Err == nil {
			fmt.Fprintf(h, "%s\x00", r.FileName)
			h.Write(r.Sum[:])
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:10])
}

// content is what the pods have on disk once Content has reached them.
func (plan *Plan) content() delivery.Content {
	out := delivery.Content{Config: plan.Config.Hash, Dirs: map[string]string{}}
	for name, files := range plan.Rules {
		sums := make(map[string][sha256.Size]byte, len(files))
		for file := range files {
			sums[file] = plan.sums[file]
		}
		out.Dirs[promconfig.RuleDir+"/"+name] = volume.SumDigests(sums)
	}
	if len(plan.overflow) > 0 {
		out.Dirs[promconfig.ConfigRuleDir] = volume.SumDigests(plan.overflow)
	}
	return out
}

// reloaders says how the reloaders of the owner's pods can be asked.
func reloaders(o Owner, cfg workload.Config) delivery.Pod {
	out := delivery.Pod{Scheme: "http"}
	if o.Fields.ListenLocal {
		return out
	}
	if o.Fields.Web != nil && o.Fields.Web.TLSConfig != nil {
		out.Scheme = "https"
	}
	out.Ports = []int{workload.ConfigReloaderPort}
	out.ServerPort, out.RuntimeInfo = workload.ServerPort, path.Join("/", o.Fields.RoutePrefix, workload.RuntimeInfoPath)
	if o.Server != nil && cfg.Layout != workload.LayoutSingle {
		out.Ports = append(out.Ports, workload.RulesReloaderPort)
	}
	return out
}

// notes collects what the user should know although nothing failed.
func (plan *Plan) notes(owner *workload.Owner, in Inputs) {
	seen := map[string]bool{}
	add := func(text string) { seen[text] = true }
	for _, d := range owner.Dropped() {
		add(d.String())
	}
	if in.Frame != nil {
		for _, d := range in.Frame.Dropped {
			add(d.String())
		}
		plan.Warnings = append(plan.Warnings, slices.Sorted(slices.Values(in.Frame.Warnings))...)
	}
	for _, m := range in.Monitors {
		for _, d := range m.Dropped {
			add(fmt.Sprintf("%s %s/%s: %s", m.Kind, m.Object.GetNamespace(), m.Object.GetName(), d))
		}
	}
	for _, r := range in.Rules {
		for _, d := range r.Dropped {
			add(fmt.Sprintf("%s %s/%s: %s", v1.PrometheusRuleKind, r.Object.Namespace, r.Object.Name, d))
		}
	}
	plan.Dropped = slices.Sorted(maps.Keys(seen))
}
