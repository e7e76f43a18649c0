// Command small stands for the programs of a release in tests. It has one dependency.
package main

import (
	"fmt"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

func main() { fmt.Println(cdx.NewBOM().BOMFormat) }
