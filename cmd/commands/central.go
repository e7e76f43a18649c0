package commands

import (
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"sync"

	"github.com/firekeeper-dev/firekeeper/internal/pemfile"
	"github.com/firekeeper-dev/firekeeper/operator/api/scaling"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// optIn is the value of --central-discovery with which workloads may have central discovery.
const optIn = "opt-in"

// centralOptions are the flags of central discovery.
type centralOptions struct {
	Mode, Address, CAFile, ShardsFile string
}

func (o *centralOptions) bind(flags flagSet) {
	flags.Flag("central-discovery", "Whether the annotation firekeeper.dev/target-discovery has an effect: off, or opt-in for each Prometheus and PrometheusAgent.").
		Default("off").EnumVar(&o.Mode, "off", optIn)
	flags.Flag("central-discovery-address", "host:port of the discovery service, as pods reach it. Required with --central-discovery=opt-in.").
		StringVar(&o.Address)
	flags.Flag("central-discovery-ca-file", "PEM file with the CA of the discovery service, which pods receive. Default: the pods trust the CAs of their image.").
		StringVar(&o.CAFile)
	flags.Flag("central-discovery-shards-file", "File with the key shards.json of the ConfigMap NAME-shards of the discovery service, for the annotation firekeeper.dev/max-shards. It may be missing. Default: none, numbers of shards stay as they are.").
		StringVar(&o.ShardsFile)
}

func (o *centralOptions) on() bool { return o.Mode == optIn }

// validate checks the flags. ours reports whether --prometheus-config-reloader is an image of this project that can
// receive targets.
func (o *centralOptions) validate(ours bool) error {
	if !o.on() {
		return nil
	}
	if o.Address == "" {
		return errors.New("--central-discovery-address: required with --central-discovery=opt-in")
	}
	if host, _, err := net.SplitHostPort(o.Address); err != nil || host == "" {
		return fmt.Errorf("--central-discovery-address=%s: is not host:port", o.Address)
	}
	if !ours {
		return errors.New("--central-discovery=opt-in: needs a config-reloader of Firekeeper that is not older than the flag; name a mirror of its image with --parts-capable-reloaders")
	}
	return nil
}

func (o *centralOptions) workload() workload.Discovery {
	if !o.on() {
		return workload.Discovery{}
	}
	return workload.Discovery{Address: o.Address, OwnCA: o.CAFile != "", Shards: o.ShardsFile != ""}
}

// readCA returns the function that reads the CA, or nil without one. It reads the file each time,
// because a kubelet replaces it.
func (o *centralOptions) readCA() func() ([]byte, error) {
	if !o.on() || o.CAFile == "" {
		return nil
	}
	return func() ([]byte, error) {
		text, err := os.ReadFile(o.CAFile)
		if err == nil {
			text, err = certificates(text)
		}
		if err != nil {
			return nil, fmt.Errorf("--central-discovery-ca-file: %w", err)
		}
		return text, nil
	}
}

// readShards returns the function that reads how many shards workloads should have, or nil without the file. The
// function rereads the file only if the kubelet has replaced it.
func (o *centralOptions) readShards() func() (scaling.Document, error) {
	if !o.on() || o.ShardsFile == "" {
		return nil
	}
	file := &shardsFile{path: o.ShardsFile}
	return file.read
}

// shardsFile caches the document in a file.
type shardsFile struct {
	path string

	mu   sync.Mutex
	info os.FileInfo // of the version that was read last
	all  scaling.Document
	err  error
}

func (f *shardsFile) read() (scaling.Document, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	info, err := os.Stat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.info = nil
		return nil, nil // there is no decision yet
	case err != nil:
		f.info = nil
		return nil, fmt.Errorf("--central-discovery-shards-file: %w", err)
	case f.info != nil && os.SameFile(info, f.info) && info.ModTime().Equal(f.info.ModTime()) && info.Size() == f.info.Size():
		return f.all, f.err
	}
	if info.Size() > scaling.MaxBytes { // rejected without reading it
		f.all, f.err = nil, fmt.Errorf("it has %d bytes, more than %d", info.Size(), scaling.MaxBytes)
	} else if text, err := os.ReadFile(f.path); err != nil {
		f.info = nil
		return nil, fmt.Errorf("--central-discovery-shards-file: %w", err)
	} else {
		f.all, f.err = scaling.Decode(text)
	}
	if f.info = info; f.err != nil {
		f.err = fmt.Errorf("--central-discovery-shards-file: %w", f.err)
	}
	return f.all, f.err
}

// certificates returns the certificates of a PEM file, without text between them.
//
// Errors: there are none, or not the whole of the last one; there is something else, such as a private key, which must not reach pods.
func certificates(text []byte) (out []byte, err error) {
	if pemfile.IsCut(text) {
		return nil, errors.New("ends within a certificate")
	}
	for {
		block, rest := pem.Decode(text)
		switch {
		case block == nil && out == nil:
			return nil, errors.New("has no certificate")
		case block == nil && bytes.Contains(text, []byte("-----BEGIN ")):
			return nil, errors.New("has a certificate that is not valid PEM")
		case block == nil:
			return out, nil
		case block.Type != "CERTIFICATE":
			return nil, fmt.Errorf("has a block of type %q, only certificates are allowed", block.Type)
		}
		out, text = append(out, pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: block.Bytes})...), rest
	}
}
