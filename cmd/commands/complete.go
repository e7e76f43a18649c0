package commands

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
)

// While somebody types, a slow cluster has no suggestions, and a large one not all.
const (
	completionTime  = 2 * time.Second
	completionLimit = 500
)

// completionFlag is the flag with which shells request completions of the words after it.
const completionFlag = "--completion-bash"

// completedWords are the words that a shell wants completed, the last of them unfinished.
func completedWords(args []string) ([]string, bool) {
	if len(args) == 0 || args[0] != completionFlag {
		return nil, false
	}
	return args[1:], true
}

// commandNames are the commands that an unfinished word may become; nil when it is not one for a
// command. The parser suggests none, because there is a default command.
func commandNames(app *kingpin.ApplicationModel, words []string) (out []string) {
	commands, word := app.Commands, ""
	for i, w := range words {
		if i == len(words)-1 {
			word = w
			break
		}
		at := slices.IndexFunc(commands, func(c *kingpin.CmdModel) bool { return c.Name == w })
		if at < 0 || len(commands[at].Commands) == 0 {
			return nil
		}
		commands = commands[at].Commands
	}
	for _, c := range commands {
		if !c.Hidden && strings.HasPrefix(c.Name, word) {
			out = append(out, c.Name)
		}
	}
	return out
}

// What status and explain are about.
var (
	workloadRows = []*catalog.Row{catalog.Prometheus, catalog.PrometheusAgent, catalog.Alertmanager, catalog.ThanosRuler}
	configRows   = append(slices.Clone(scrapeRows), catalog.PrometheusRule, catalog.AlertmanagerConfig)
)

// withObjects declares the flags of a command whose argument "object" a shell can complete:
// with the kind, and after it with the names in the cluster of the kubeconfig, those of a
// namespace if --namespace is given. words and namespace are what has been typed.
func (o *Options) withObjects(bind func(*kingpin.CmdClause), words *[]string, namespace *string, kinds []*catalog.Row) func(*kingpin.CmdClause) {
	suggest := sync.OnceValue(func() []string { // which the parser calls for each word
		typed := slices.DeleteFunc(slices.Clone(*words), func(word string) bool { return word == "" })
		if len(typed) == 0 {
			return kindWords(kinds)
		}
		i := slices.Index(kinds, catalog.Word(typed[0]))
		if i < 0 {
			return kindWords(kinds)
		}
		return o.names(kinds[i], *namespace)
	})
	return func(cmd *kingpin.CmdClause) {
		bind(cmd)
		cmd.GetArg("object").HintAction(suggest)
	}
}

func kindWords(kinds []*catalog.Row) (out []string) {
	for _, row := range kinds {
		out = append(out, strings.ToLower(row.Kind))
	}
	return out
}

// names are those of the objects of a kind: NAMESPACE/NAME, or NAME in a namespace. There
// are none where the cluster does not answer at once.
func (o *Options) names(row *catalog.Row, namespace string) (out []string) {
	cfg, err := o.personConfig()
	if err != nil {
		return nil
	}
	cfg.Timeout = completionTime
	_, clients, err := kindClients(cfg)
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), completionTime)
	defer cancel()
	objects, err := readers.Cluster{CRDs: clients}.List(ctx, readers.Query{GroupVersionResource: row.GroupVersionResource(), Namespace: namespace, Limit: completionLimit})
	if err != nil {
		return nil
	}
	for _, object := range objects {
		name := object.GetName()
		if namespace == "" {
			name = object.GetNamespace() + "/" + name
		}
		out = append(out, name)
	}
	return out
}
