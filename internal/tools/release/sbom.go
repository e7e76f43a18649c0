package main

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// writeSBOMs writes the modules of each binary as CycloneDX.
func (r *release) writeSBOMs() error {
	for _, platform := range r.platform {
		for _, p := range everything() {
			info, err := buildinfo.ReadFile(r.binary(platform, p))
			if err != nil {
				return err
			}
			name := fmt.Sprintf("%s_%s_%s.cdx.json", p.name, r.version, strings.ReplaceAll(platform, "-", "_"))
			if err := writeSBOM(filepath.Join(r.out, name), bill(p.name, r.version, info)); err != nil {
				return fmt.Errorf("write %s: %w", name, err)
			}
		}
	}
	return nil
}

// bill lists the modules from which a binary was built, as recorded by its linker.
func bill(name, version string, info *debug.BuildInfo) *cdx.BOM {
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: &cdx.Component{
		BOMRef: name, Type: cdx.ComponentTypeApplication, Name: name, Version: version,
		Licenses: &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}},
	}}
	components := []cdx.Component{moduleComponent("std", strings.TrimPrefix(info.GoVersion, "go"), "")}
	for _, dep := range info.Deps {
		if dep.Replace != nil {
			dep = dep.Replace
		}
		if strings.HasPrefix(dep.Path, "github.com/firekeeper-dev/firekeeper/") || strings.HasPrefix(dep.Path, ".") {
			continue // of this tree
		}
		components = append(components, moduleComponent(dep.Path, dep.Version, dep.Sum))
	}
	var refs []string
	for _, c := range components {
		refs = append(refs, c.BOMRef)
	}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: name, Dependencies: &refs}}
	return bom
}

// moduleComponent is a Go module. sum is that of go.sum.
func moduleComponent(path, version, sum string) cdx.Component {
	url := "pkg:golang/" + path + "@" + version
	c := cdx.Component{BOMRef: url, Type: cdx.ComponentTypeLibrary, Name: path, Version: version, PackageURL: url}
	if sum != "" {
		c.Properties = &[]cdx.Property{{Name: "go.sum", Value: sum}}
	}
	return c
}

func writeSBOM(to string, bom *cdx.BOM) error {
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	return errors.Join(cdx.NewBOMEncoder(out, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom), out.Close())
}
