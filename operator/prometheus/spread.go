package prometheus

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/internal/parts"
	"github.com/firekeeper-dev/firekeeper/operator/apply"
	"github.com/firekeeper-dev/firekeeper/operator/document"
	"github.com/firekeeper-dev/firekeeper/operator/rules"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// Documents remember the compressed chunks of what an owner's Secrets hold. Use
// NewDocuments.
type Documents struct {
	config, rules document.Assembler
	max           int // bytes of one Secret
}

// NewDocuments returns the documents of one owner. shared are the chunks that it
// has in common with others, nil for none; max is how many bytes one Secret may
// hold, 0 for [workload.MaxConfigBytes].
func NewDocuments(shared *document.Chunks, max int) *Documents {
	if max == 0 {
		max = workload.MaxConfigBytes
	}
	return &Documents{
		config: document.Assembler{Shared: shared, Whole: max},
		rules:  document.Assembler{Shared: shared, Whole: 1}, // always in parts
		max:    max,
	}
}

// Close drops what is kept for the next pass.
func (d *Documents) Close() {
	d.config.Close()
	d.rules.Close()
}

// mostRuleConfigMaps is how many ConfigMaps may be made for rules; 0 is any
// number. Where pods read the parts of a configuration, rules beyond the ConfigMaps
// that every pod mounts come along with it, and growth never changes the pod.
// Until the pods are of that kind, and where the configuration is the user's, more
// ConfigMaps are mounted.
func (g *gatherer) mostRuleConfigMaps(o Owner, in *Inputs) int {
	if g.singleLayout || g.unmanaged(o) {
		return 0
	}
	for _, s := range in.StatefulSets {
		if !workload.ReadsParts(&s.Spec.Template.Spec) {
			return 0
		}
	}
	return rules.MountedConfigMaps
}

// configInParts reports whether pods must see the parts of the configuration: they
// do as soon as there are some, and keep what they have.
func (plan *Plan) configInParts(in Inputs) bool {
	for _, s := range in.StatefulSets {
		if workload.ReadsParts(&s.Spec.Template.Spec) {
			return true
		}
	}
	return len(plan.parts) > 0 || in.DaemonSet != nil && workload.ReadsParts(&in.DaemonSet.Spec.Template.Spec)
}

// spread writes the configuration and the rules that no ConfigMap holds: into one
// Secret if possible, else the configuration into parts 1, 2, … and the rules into
// those from the last down, so that neither moves the other. Parts are written
// before the list that names them and removed after it.
//
// Errors: TooLargeError.
func (plan *Plan) spread(owner *workload.Owner, in Inputs, docs *Documents) error {
	rules, err := plan.rulePieces(in)
	if err != nil {
		return err
	}
	defer plan.surplusParts(owner, in)
	if len(rules) == 0 {
		docs.rules.Close()
		if plan.Config.Gzip != nil {
			plan.slices = [][]byte{plan.Config.Gzip}
			plan.put(owner.ConfigSecret(plan.Config.Gzip))
			return nil
		}
	} else if _, err := docs.rules.Build(rules); err != nil {
		return err
	}
	config, archive, err := docs.cut(plan.Config.Gzip != nil, len(rules) > 0)
	if err != nil {
		return tooLarge(plan, in, docs, err)
	}
	return plan.putParts(owner, config, archive)
}

// cut cuts both documents so that together they need at most all parts.
func (d *Documents) cut(whole, rules bool) (config, archive []document.Part, err error) {
	cut := document.Cut{Max: d.max, Count: workload.ConfigParts}
	if rules {
		cut.Count -= d.rules.Fewest(cut)
	}
	cut.Torn = !whole
	if whole {
		cut.Count = 1
	}
	if config, err = d.config.Parts(cut); err != nil || !rules {
		return config, nil, err
	}
	archive, err = d.rules.Parts(document.Cut{Max: d.max, Count: workload.ConfigParts - (len(config) - 1)})
	return config, archive, err
}

func (plan *Plan) putParts(owner *workload.Owner, config, archive []document.Part) error {
	plan.parts = map[string]bool{}
	var list parts.List
	for i, p := range config {
		plan.slices = append(plan.slices, p.Data)
		name := workload.ConfigKey
		if i > 0 {
			name = parts.ConfigName(i)
			plan.putPart(owner.ConfigPartSecret(i, name, p.Data))
		}
		list.Config = append(list.Config, parts.File{Name: name, SHA256: hex.EncodeToString(p.Sum[:])})
	}
	for i, p := range archive {
		number := workload.ConfigParts - i
		name := parts.RulesName(number)
		plan.putPart(owner.ConfigPartSecret(number, name, p.Data))
		list.Rules = append(list.Rules, parts.File{Name: name, SHA256: hex.EncodeToString(p.Sum[:])})
	}
	text, err := list.Encode()
	if err != nil {
		return err
	}
	plan.Config.Hash = list.Config.Sum()
	plan.put(owner.ConfigSecretInParts(config[0].Data, text))
	return nil
}

func (plan *Plan) put(s *corev1.Secret) {
	plan.Content = append(plan.Content, apply.Step{Verb: apply.Put, Object: s})
}

func (plan *Plan) putPart(s *corev1.Secret) {
	plan.parts[s.Name] = true
	plan.put(s)
}

// surplusParts removes parts that are not needed any more.
func (plan *Plan) surplusParts(owner *workload.Owner, in Inputs) {
	base := strings.TrimSuffix(owner.ConfigPartName(0), "0")
	namespace := owner.ConfigSecret(nil).Namespace
	for _, name := range slices.Sorted(slices.Values(in.Secrets)) {
		rest, ok := strings.CutPrefix(name, base)
		if number, err := strconv.Atoi(rest); !ok || err != nil || number < 1 || number > workload.ConfigParts || plan.parts[name] {
			continue
		}
		surplus := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		plan.Content = append(plan.Content, apply.Step{Verb: apply.Remove, Object: surplus})
	}
}

// TooLargeError means that an owner's configuration fits into no Secrets that its
// pods mount. Nothing is written then.
type TooLargeError struct {
	Config, Plain, Rules int // bytes of the configuration, compressed and plain, and of the compressed rules
	Monitors, RuleFiles  int // how many objects these are
	Room                 int // bytes of all parts
}

func (e *TooLargeError) Error() string {
	const mib = 1 << 20
	rules := ""
	if e.Rules > 0 {
		rules = fmt.Sprintf(" and %d rule files beyond the ConfigMaps have %.1f MiB compressed", e.RuleFiles, float64(e.Rules)/mib)
	}
	return fmt.Sprintf("the configuration of %d monitors has %.1f MiB compressed (%.0f MiB plain)%s; the Secrets that pods mount hold %.1f MiB: "+
		"let several owners select the monitors and rules (by labels or namespaces); spec.shards does not help, because every shard has the whole configuration. "+
		"What was written last stays",
		e.Monitors, float64(e.Config)/mib, float64(e.Plain)/mib, rules, float64(e.Room)/mib)
}

func tooLarge(plan *Plan, in Inputs, docs *Documents, err error) error {
	if _, ok := err.(*document.TooLargeError); !ok {
		return err
	}
	e := &TooLargeError{
		Config: plan.Config.Length, Plain: plan.Config.Size, RuleFiles: len(in.RulePlan.Overflow),
		Room: docs.max * workload.ConfigParts,
	}
	if e.RuleFiles > 0 {
		e.Rules = docs.rules.Length()
	}
	for _, m := range in.Monitors {
		if m.Err == nil {
			e.Monitors++
		}
	}
	return e
}

// reloaderMemory is what config-reloader needs for itself, in bytes, generously.
const reloaderMemory = 20 << 20

// memoryWarning says that config-reloader would be killed for what it writes into a
// volume in memory, which counts as its own: the plain configuration, of which the
// old and the new version are there for a moment, and unpacked rules, of which there
// may be one version more. Empty when there is room.
func memoryWarning(size, rules int, limit resource.Quantity) string {
	need := int64(2*size + 3*rules + reloaderMemory)
	if limit.IsZero() || limit.Value() >= need {
		return ""
	}
	return fmt.Sprintf("the plain configuration and the rules that come with it have %d MiB, and are in memory several times while they are replaced: --config-reloader-memory-limit=%s is too little, it should be %dMi or 0 (none)",
		(size+rules)>>20, limit.String(), (need>>20)+1)
}

// endOfArchive ends a tar archive.
var endOfArchive = document.NewTextPiece("end", [32]byte{}, string(make([]byte, 2*tarBlock)))

const tarBlock = 512

// rulePieces are the rules that no ConfigMap holds, as an archive in pieces.
func (plan *Plan) rulePieces(in Inputs) ([]*document.Piece, error) {
	if len(in.RulePlan.Overflow) == 0 {
		return nil, nil
	}
	files := make(map[string]*CompiledRule, len(in.Rules))
	for _, r := range in.Rules {
		if r.Err == nil {
			files[r.FileName] = r.CompiledRule
		}
	}
	plan.overflow = make(map[string][sha256.Size]byte, len(in.RulePlan.Overflow))
	out := make([]*document.Piece, 0, len(in.RulePlan.Overflow)+1)
	for _, name := range in.RulePlan.Overflow {
		piece, err := files[name].archived()
		if err != nil {
			return nil, err
		}
		plan.overflow[name] = files[name].Sum
		plan.archived += len(files[name].Content)
		out = append(out, piece)
	}
	return append(out, endOfArchive), nil
}

// archived is the rule file as a piece of an archive. It shares the text.
func (r *CompiledRule) archived() (*document.Piece, error) {
	r.once.Do(func() {
		var header bytes.Buffer
		// Nothing varies but name and size: the same rules make the same bytes.
		err := tar.NewWriter(&header).WriteHeader(&tar.Header{Name: r.FileName, Mode: 0o644, Size: int64(len(r.Content))})
		if err != nil {
			r.pieceErr = fmt.Errorf("archive rules %s: %w", r.FileName, err)
			return
		}
		pad := (tarBlock - len(r.Content)%tarBlock) % tarBlock
		sum := sha256.Sum256(append([]byte(r.FileName+"\x00"), r.Sum[:]...))
		r.piece = document.NewTextPiece(r.FileName, sum, header.String(), r.Content, zeros[:pad])
	})
	return r.piece, r.pieceErr
}

var zeros = string(make([]byte, tarBlock))

// WriteConfig writes the plain configuration, wherever its parts are; nothing when
// it is left to the user.
func (plan *Plan) WriteConfig(w io.Writer) error {
	if len(plan.slices) == 0 {
		return nil
	}
	readers := make([]io.Reader, len(plan.slices))
	for i, s := range plan.slices {
		readers[i] = bytes.NewReader(s)
	}
	r, err := gzip.NewReader(io.MultiReader(readers...))
	if err != nil {
		return err
	}
	_, err = io.Copy(w, r)
	return err
}
