package amconfig

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/Masterminds/semver/v3"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/internal/golden"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// section is the wanted content of a golden file: the sections for receivers.
type section struct {
	Global    *Global    `yaml:"global,omitempty"`
	Receivers []Receiver `yaml:"receivers"`
}

// TestReceivers renders the receivers and the global settings for the version in the name
// of each wanted file.
//
//	want/<version>.yaml     both sections; the newest version must load them
//	want/<version>.dropped  keys that the version does not support
//	want/<version>.error    why the object is rejected, or nothing is generated
//	want/<version>.files    TLS assets
func TestReceivers(t *testing.T) {
	golden.Run(t, "testdata/receivers/*.txtar", func(t *testing.T, c golden.Case, name string) ([]byte, error) {
		version, part := golden.CutVersion(name)
		w, err := readInput(c)
		if err != nil {
			return nil, err
		}
		out, files, err := w.sections(version)
		if part == "error" {
			if err == nil {
				err = errors.New("no error")
			}
			return []byte(err.Error()), nil
		}
		if err != nil {
			return nil, err
		}
		text, dropped, err := gate.Marshal(out, target(version))
		if err != nil {
			return nil, err
		}
		checkDocument(t, version, withRoute(text, out.Receivers))
		switch part {
		case "yaml":
			return text, nil
		case "dropped":
			var paths []string
			for _, d := range fieldPaths(dropped) {
				paths = append(paths, d.String())
			}
			return golden.Lines(paths), nil
		case "files":
			return golden.Lines(slices.Sorted(maps.Keys(files))), nil
		}
		return nil, fmt.Errorf("unknown output %q", part)
	})
}

func target(version string) gate.Target { return targetOf(semver.MustParse(version)) }

// compiler returns a compiler for references in the namespace of the inputs.
func (w *goldenInput) compiler(version string) *compiler {
	t := target(version)
	return &compiler{Resolver: clientconfig.New("default", &w.objects, certsDir, t), target: t}
}

func (w *goldenInput) sections(version string) (section, map[string][]byte, error) {
	c, out := w.compiler(version), section{}
	if base := w.am.Spec.AlertmanagerConfiguration; base != nil {
		global, err := c.global(base.Global)
		if err != nil {
			return section{}, nil, err
		}
		out.Global, c.globals = global, global.provides()
	}
	var receivers []v1alpha1.Receiver
	for _, config := range w.configs {
		receivers = append(receivers, config.Spec.Receivers...)
	}
	for i := range receivers {
		in := &receivers[i]
		r, err := Receiver{}, checkReceiver(in)
		if err == nil {
			r, err = c.receiver(in)
		}
		if err != nil {
			return section{}, nil, faults.At(fmt.Sprintf("receivers[%d]", i), err)
		}
		out.Receivers = append(out.Receivers, r)
	}
	return out, c.Files(), nil
}

// withRoute returns a document of the sections with a route to the first receiver.
func withRoute(text []byte, receivers []Receiver) []byte {
	root := "none"
	if len(receivers) == 0 {
		text = bytes.Replace(text, []byte("receivers: []\n"), []byte("receivers: [{name: none}]\n"), 1)
	} else {
		root = receivers[0].Name
	}
	return fmt.Appendf(bytes.Clone(text), "route:\n  receiver: %q\n", root)
}
