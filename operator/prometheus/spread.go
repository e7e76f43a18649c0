package prometheus

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

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
	max           int // bytes of one part
}

// NewDocuments returns the documents of one owner. shared are the chunks that it
// has in common with others, nil for none; max is how many bytes one Secret may
// hold, 0 for [workload.MaxConfigBytes] and, of parts, [workload.MaxPartBytes].
func NewDocuments(shared *document.Chunks, max int) *Documents {
	whole, part := max, max
	if max == 0 {
		whole, part = workload.MaxConfigBytes, workload.MaxPartBytes
	}
	return &Documents{
		config: document.Assembler{Shared: shared, Whole: whole},
		rules:  document.Assembler{Shared: shared, Whole: -1},
		max:    part,
	}
}

// Close drops what is kept for the next reconciliation.
func (d *Documents) Close() {
	d.config.Close()
	d.rules.Close()
}

// mostRuleConfigMaps is how many ConfigMaps may be made for rules; 0 is any
// number. Where pods read the parts of a configuration, rules beyond the ConfigMaps
// that every pod mounts come along with it, and growth never changes the pod. In
// all other cases more ConfigMaps are mounted.
func (g *gatherer) mostRuleConfigMaps(o Owner, in *Inputs) int {
	if g.workload.Layout == workload.LayoutSingle || g.unmanaged(o) {
		return 0
	}
	if _, live := notReaders(o.Workload(g.workload), g.workload, *in); live != "" {
		return 0
	}
	return rules.MountedConfigMaps
}

// spread writes the configuration and the rules that no ConfigMap holds: into one
// Secret if possible, else into parts. Parts are written before the list that names
// them, and those of the version before are removed after it.
//
// Errors: TooLargeError.
func (plan *Plan) spread(owner *workload.Owner, cfg workload.Config, in Inputs, docs *Documents) error {
	rules, err := plan.rulePieces(in)
	if err != nil {
		return err
	}
	whole := plan.Config.Gzip != nil
	if len(rules) == 0 {
		docs.rules.Close()
		if whole {
			plan.slices = [][]byte{plan.Config.Gzip}
			plan.put(owner.ConfigSecret(plan.Config.Gzip))
			plan.surplusParts(owner, in)
			return nil
		}
	} else if _, err := docs.rules.Build(rules); err != nil {
		return err
	}
	if wanted, live := notReaders(owner, cfg, in); live != "" {
		return tooLarge(plan, in, docs, TooLargeError{NoReader: wanted, NotYet: live, Room: docs.config.Whole})
	}
	places := liveSlots(owner, in)
	config, archive, err := docs.cut(places.room(), plan.Config, len(rules) > 0)
	if _, full := errors.AsType[*document.TooLargeError](err); full {
		return tooLarge(plan, in, docs, TooLargeError{Room: docs.max * places.room()})
	}
	if err != nil {
		return err
	}
	if err := plan.putParts(owner, places, config, archive); err != nil {
		return err
	}
	plan.surplusParts(owner, in)
	return nil
}

// cut cuts both documents so that together they need at most count parts. A
// configuration that fits into one Secret is one part, and without an end.
func (d *Documents) cut(count int, whole document.Document, rules bool) (config, archive document.Parted, err error) {
	cut := document.Cut{Max: d.max, Count: count, Head: true}
	if rules {
		cut.Count -= d.rules.Fewest(document.Cut{Max: d.max})
	}
	if whole.Gzip != nil && len(whole.Gzip) <= d.max {
		config.Parts = []document.Part{{Data: whole.Gzip, Sum: sha256.Sum256(whole.Gzip)}}
	} else if config, err = d.config.Parts(cut); err != nil {
		return config, archive, err
	}
	if rules {
		archive, err = d.rules.Parts(document.Cut{Max: d.max, Count: count - (len(config.Parts) - 1)})
	}
	return config, archive, err
}

// putParts writes the first part of the configuration and the ends of both streams
// beside the list, all else into slots.
func (plan *Plan) putParts(owner *workload.Owner, places slots, config, archive document.Parted) error {
	plan.parts = map[string]bool{}
	first := config.Parts[0]
	beside := map[string][]byte{workload.ConfigKey: first.Data}
	end := func(s parts.Stream, name string, p document.Part) parts.Stream {
		if len(p.Data) == 0 {
			return s
		}
		beside[name] = p.Data
		return append(s, fileOf(name, p))
	}
	middle, err := plan.putStream(owner, places, config.Parts[1:], parts.ConfigName, upwards())
	if err != nil {
		return err
	}
	list := parts.List{Version: parts.Version, Config: append(parts.Stream{fileOf(workload.ConfigKey, first)}, middle...)}
	list.Config = end(list.Config, parts.ConfigEnd, config.End)
	if list.Rules, err = plan.putStream(owner, places, archive.Parts, parts.RulesName, downwards()); err != nil {
		return err
	}
	list.Rules = end(list.Rules, parts.RulesEnd, archive.End)
	if beside[parts.ListName], err = list.Encode(); err != nil {
		return err
	}
	for _, p := range append(config.Parts, config.End) {
		plan.slices = append(plan.slices, p.Data)
	}
	plan.Config.Hash = list.Config.Sum()
	plan.put(owner.ConfigSecretInParts(beside, places.numbers()))
	return nil
}

func (plan *Plan) put(s *corev1.Secret) {
	plan.Content = append(plan.Content, apply.Step{Verb: apply.Put, Object: s})
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
	return fmt.Sprintf("the plain configuration and the rules that come with it have %d MiB, and are in memory several times while they are replaced: --config-reloader-memory-limit=%s is too low, set it to %dMi or 0 (none)",
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
