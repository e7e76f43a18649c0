package commands

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"
	"k8s.io/client-go/metadata"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/status"
)

const statusHelp = "Show a workload on one page: its conditions, its pods and whether they run the latest configuration, the objects that it rejects or does not select " +
	"and the first reason, and the last Events. Without OBJECT, show all workloads in one line each. Reads the cluster of the kubeconfig with your permissions and writes " +
	"nothing. Exits 0 if all is well, 1 if something calls for attention, 2 on an error."

var statusExample = []string{
	"status # all workloads",
	"status prometheus demo/main # one of them",
	"status prom main -n demo --watch # again whenever something changed",
}

// statusOptions are the arguments of the command status.
type statusOptions struct {
	words     []string
	namespace string
	format    string
	watch     bool
	subject   status.Subject // set by validate
}

func (s *statusOptions) bind(cmd *kingpin.CmdClause) {
	cmd.Arg("object", "The workload: "+spellings+". KIND is prometheus, prometheusagent, thanosruler or alertmanager, or its plural or short name.").
		PlaceHolder("OBJECT").StringsVar(&s.words)
	cmd.Flag("namespace", "Namespace of an OBJECT that is named without one; default: that of the kubeconfig's context. Without OBJECT, show the workloads of this namespace.").
		Short('n').StringVar(&s.namespace)
	cmd.Flag("format", "Output format: text for people, json for programs.").Short('o').Default("text").EnumVar(&s.format, status.Formats...)
	cmd.Flag("watch", "Print again whenever something changed, at most every two seconds.").Short('w').BoolVar(&s.watch)
}

// validate returns an error for the first invalid argument.
func (s *statusOptions) validate(o *userOptions) error {
	s.subject.Name.Namespace = s.namespace
	if len(s.words) == 0 {
		return nil
	}
	spelling, rest, err := catalog.Spell(s.words, s.namespace)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return fmt.Errorf("unexpected %q: give one workload, or none for all", rest[0])
	}
	row := catalog.Word(spelling.Kind)
	if !slices.Contains(managed, row) {
		return fmt.Errorf("%q is not %s%s", spelling.Kind, strings.ToLower(catalog.Or(managed)), insteadOfStatus(row))
	}
	o.inCluster(&spelling)
	name := strings.TrimPrefix(spelling.NamespacedName.String(), "/")
	if s.subject.Name, err = catalog.Key(name, ""); err != nil {
		return fmt.Errorf("%q: %w", name, err)
	}
	s.subject.Row = row
	return nil
}

// insteadOfStatus suggests the command explain for a kind of objects that workloads
// select.
func insteadOfStatus(row *catalog.Row) string {
	if row == nil {
		return ""
	}
	return ": explain shows which workloads use a " + row.Kind
}

// run prints the reports and returns the exit code.
func (s *statusOptions) run(ctx context.Context, o *userOptions, stdout io.Writer) (code int, err error) {
	live, cfg, version, err := o.reach(ctx)
	if err != nil {
		return 2, err
	}
	kubernetes, err := parseKubernetes(version)
	if err != nil {
		return 2, err
	}
	cluster := status.Cluster{Reader: live}
	if cluster.Setups, cluster.Scopes, err = o.setups(kubernetes); err != nil {
		return 2, err
	}
	if !s.watch {
		return s.show(ctx, cluster, stdout, nil)
	}
	meta, err := metadata.NewForConfig(cfg)
	if err != nil {
		return 2, err
	}
	var before []byte
	err = cluster.Watch(ctx, meta, s.subject, func(ctx context.Context) error {
		var err error
		code, err = s.show(ctx, cluster, stdout, &before)
		return err
	})
	if err != nil && ctx.Err() == nil {
		return 2, err
	}
	return code, nil
}

// show prints the current state. If before is set, it prints only the changes since then.
func (s *statusOptions) show(ctx context.Context, cluster status.Cluster, stdout io.Writer, before *[]byte) (code int, err error) {
	facts, err := cluster.Gather(ctx, s.subject)
	if err != nil {
		return 2, err
	}
	pages := status.Overview{Workloads: []status.Report{}}
	for _, f := range facts {
		page := status.View(f)
		if !page.Good() {
			code = 1
		}
		pages.Workloads = append(pages.Workloads, page)
	}
	if s.subject == (status.Subject{}) {
		pages.Unselected = status.UnselectedIn(facts)
	}
	if before != nil {
		var now bytes.Buffer
		if err := pages.Write(&now, "json", time.Time{}); err != nil {
			return 2, err
		}
		if bytes.Equal(now.Bytes(), *before) {
			return code, nil
		}
		if *before != nil && s.format == "text" {
			fmt.Fprintf(stdout, "\n--- %s\n", time.Now().Format(time.TimeOnly))
		}
		*before = now.Bytes()
	}
	write := pages.Write
	if s.subject.Row != nil {
		write = pages.Workloads[0].Write
	}
	if err := write(stdout, s.format, time.Now()); err != nil {
		return 2, err
	}
	return code, nil
}
