package promconfig

import (
	"errors"
	"fmt"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// OTLP is the otlp block, which controls how received OTLP metrics are converted to series.
type OTLP struct {
	// PromoteResourceAttributes lists resource attributes that become labels.
	PromoteResourceAttributes []string `yaml:"promote_resource_attributes,omitempty" since:"2.55.0"`
	// TranslationStrategy is the translation of metric and label names.
	TranslationStrategy v1.TranslationStrategyOption `yaml:"translation_strategy,omitempty" since:"3.0.0"`
	// KeepIdentifyingResourceAttributes keeps these attributes in target_info.
	KeepIdentifyingResourceAttributes *bool `yaml:"keep_identifying_resource_attributes,omitempty" since:"3.1.0"`
	// ConvertHistogramsToNHCB stores explicit bucket histograms as native ones.
	ConvertHistogramsToNHCB *bool `yaml:"convert_histograms_to_nhcb,omitempty" since:"3.4.0"`
	// PromoteAllResourceAttributes converts all resource attributes to labels.
	PromoteAllResourceAttributes *bool `yaml:"promote_all_resource_attributes,omitempty" since:"3.5.0"`
	// IgnoreResourceAttributes lists exceptions if all attributes are promoted.
	IgnoreResourceAttributes []string `yaml:"ignore_resource_attributes,omitempty" since:"3.5.0"`
	// PromoteScopeMetadata converts scope metadata to labels.
	PromoteScopeMetadata *bool `yaml:"promote_scope_metadata,omitempty" since:"3.6.0"`
	// LabelNameUnderscoreSanitization adds a prefix to names that begin with an underscore.
	LabelNameUnderscoreSanitization *bool `yaml:"label_name_underscore_sanitization,omitempty" since:"3.8.0"`
	// LabelNamePreserveMultipleUnderscores keeps runs of underscores.
	LabelNamePreserveMultipleUnderscores *bool `yaml:"label_name_preserve_multiple_underscores,omitempty" since:"3.8.0"`
}

func otlpFrom(f *v1.CommonPrometheusFields, t gate.Target) (*OTLP, error) {
	o := f.OTLP
	if o == nil {
		return nil, nil
	}
	if err := checkOTLP(o, f.NameValidationScheme, t); err != nil {
		return nil, err
	}
	return &OTLP{
		PromoteResourceAttributes:            o.PromoteResourceAttributes,
		TranslationStrategy:                  o.TranslationStrategy,
		KeepIdentifyingResourceAttributes:    o.KeepIdentifyingResourceAttributes,
		ConvertHistogramsToNHCB:              o.ConvertHistogramsToNHCB,
		PromoteAllResourceAttributes:         o.PromoteAllResourceAttributes,
		IgnoreResourceAttributes:             o.IgnoreResourceAttributes,
		PromoteScopeMetadata:                 o.PromoteScopeMetadata,
		LabelNameUnderscoreSanitization:      o.LabelNameUnderscoreSanitization,
		LabelNamePreserveMultipleUnderscores: o.LabelNamePreserveMultipleUnderscores,
	}, nil
}

// strategySince holds the translation strategies that are newer than the key.
var strategySince = map[v1.TranslationStrategyOption]string{
	v1.NoTranslation:                     "3.4.0",
	v1.UnderscoreEscapingWithoutSuffixes: "3.6.0",
}

func checkOTLP(o *v1.OTLPConfig, scheme v1.NameValidationSchemeOptions, t gate.Target) error {
	if !t.AtLeast("2.55.0") {
		return errors.New("needs Prometheus >= 2.55.0")
	}
	if (o.TranslationStrategy == v1.NoUTF8EscapingWithSuffixes || o.TranslationStrategy == v1.NoTranslation) && scheme == v1.LegacyNameValidationScheme {
		return faults.At("translationStrategy", fmt.Errorf("%s conflicts with nameValidationScheme %s", o.TranslationStrategy, scheme))
	}
	if since := strategySince[o.TranslationStrategy]; since != "" && !t.AtLeast(since) {
		return faults.At("translationStrategy", fmt.Errorf("%s needs Prometheus >= %s", o.TranslationStrategy, since))
	}
	if !t.AtLeast("3.5.0") {
		return nil // the keys checked below are omitted
	}
	all := o.PromoteAllResourceAttributes != nil && *o.PromoteAllResourceAttributes
	switch {
	case all && len(o.PromoteResourceAttributes) > 0:
		return clientconfig.Exclusive("promoteAllResourceAttributes", "promoteResourceAttributes")
	case !all && len(o.IgnoreResourceAttributes) > 0:
		return errors.New("ignoreResourceAttributes needs promoteAllResourceAttributes")
	}
	return nil
}
