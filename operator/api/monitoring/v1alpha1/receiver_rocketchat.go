package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// RocketChatConfig holds settings.
type RocketChatConfig struct {
	// Actions is a setting.
	//
	// +kubebuilder:validation:MinItems=1
	// +listType=atomic
	// +optional
	Actions []RocketChatActionConfig `json:"actions,omitempty"`

	// APIURL is a setting.
	//
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +optional
	APIURL string `json:"apiURL,omitempty"`

	// Channel is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Channel string `json:"channel,omitempty"`

	// Color is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Color string `json:"color,omitempty"`

	// Emoji is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Emoji string `json:"emoji,omitempty"`

	// Fields is a setting.
	//
	// +kubebuilder:validation:MinItems=1
	// +listType=atomic
	// +optional
	Fields []RocketChatFieldConfig `json:"fields,omitempty"`

	// HTTPConfig is a setting.
	//
	// +optional
	HTTPConfig *HTTPConfig `json:"httpConfig,omitempty"`

	// IconURL is a setting.
	//
	// +optional
	IconURL *string `json:"iconURL,omitempty"`

	// ImageURL is a setting.
	//
	// +optional
	ImageURL *string `json:"imageURL,omitempty"`

	// LinkNames is a setting.
	//
	// +optional
	LinkNames *bool `json:"linkNames,omitempty"`

	// SendResolved is a setting.
	//
	// +optional
	SendResolved *bool `json:"sendResolved,omitempty"`

	// ShortFields is a setting.
	//
	// +optional
	ShortFields *bool `json:"shortFields,omitempty"`

	// Text is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Text string `json:"text,omitempty"`

	// ThumbURL is a setting.
	//
	// +optional
	ThumbURL *string `json:"thumbURL,omitempty"`

	// Title is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Title string `json:"title,omitempty"`

	// TitleLink is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	TitleLink string `json:"titleLink,omitempty"`

	// Token is a setting.
	//
	// +required
	Token corev1.SecretKeySelector `json:"token"`

	// TokenID is a setting.
	//
	// +required
	TokenID corev1.SecretKeySelector `json:"tokenID"`
}

// RocketChatActionConfig holds settings.
type RocketChatActionConfig struct {
	// Msg is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Msg string `json:"msg,omitempty"`

	// Text is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Text string `json:"text,omitempty"`

	// URL is a setting.
	//
	// +optional
	URL *string `json:"url,omitempty"`
}

// RocketChatFieldConfig holds settings.
type RocketChatFieldConfig struct {
	// Short is a setting.
	//
	// +optional
	Short *bool `json:"short,omitempty"`

	// Title is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Title string `json:"title,omitempty"`

	// Value is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Value string `json:"value,omitempty"`
}
