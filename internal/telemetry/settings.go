package telemetry

import (
	"cmp"
	"net/url"
	"strings"

	"pdpp"
)

// Traces holds the settings for sending spans.
type Traces struct {
	Endpoint string // the full URL
	Headers  map[string]string
	Service  string // the name of this server
}

func (t *Traces) service() string { return cmp.Or(t.Service, "pdpp") }

// defaultEndpoint is the usual address of a collector on this machine.
const defaultEndpoint = "http://localhost:4318"

// ReadTraces reads the settings of traces from the standard variables of OpenTelemetry.
// It returns nil when traces are off, and CodeNotConfigured for settings that this
// program does not support.
func ReadTraces(getenv func(string) string) (*Traces, error) {
	which := getenv("OTEL_TRACES_EXPORTER")
	base, full := getenv("OTEL_EXPORTER_OTLP_ENDPOINT"), getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	switch {
	case strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true"), which == "none", which == "" && base == "" && full == "":
		return nil, nil
	case which != "" && which != "otlp":
		return nil, refuse("OTEL_TRACES_EXPORTER", "write otlp or none")
	}
	protocol := cmp.Or(getenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"), getenv("OTEL_EXPORTER_OTLP_PROTOCOL"))
	if protocol == "grpc" {
		return nil, refuse("OTEL_EXPORTER_OTLP_PROTOCOL", "traces are sent over HTTP only; use the HTTP port of the collector, usually 4318")
	}
	if full == "" {
		full = strings.TrimSuffix(cmp.Or(base, defaultEndpoint), "/") + "/v1/traces"
	}
	u, err := url.Parse(full)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, refuse("OTEL_EXPORTER_OTLP_ENDPOINT", "write a URL such as "+defaultEndpoint)
	}
	switch getenv("OTEL_TRACES_SAMPLER") {
	case "", "always_on", "always_off", "traceidratio", "parentbased_always_on", "parentbased_always_off", "parentbased_traceidratio":
	default:
		return nil, refuse("OTEL_TRACES_SAMPLER", "write always_on, always_off, traceidratio, or one of them after parentbased_")
	}
	headers, ok := readHeaders(cmp.Or(getenv("OTEL_EXPORTER_OTLP_TRACES_HEADERS"), getenv("OTEL_EXPORTER_OTLP_HEADERS")))
	if !ok {
		return nil, refuse("OTEL_EXPORTER_OTLP_HEADERS", "write name=value pairs, separated by commas")
	}
	return &Traces{Endpoint: full, Headers: headers, Service: getenv("OTEL_SERVICE_NAME")}, nil
}

// readHeaders parses name=value pairs with percent-encoded values.
func readHeaders(s string) (map[string]string, bool) {
	out := map[string]string{}
	for pair := range strings.SplitSeq(s, ",") {
		if pair = strings.TrimSpace(pair); pair == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if name = strings.TrimSpace(name); !ok || err != nil || name == "" {
			return nil, false
		}
		out[name] = value
	}
	return out, true
}

// refuse returns an error that names the variable but not its value, which may be a
// secret.
func refuse(variable, advice string) error {
	return pdpp.Errorf(pdpp.CodeNotConfigured, "The value of %s is not valid: %s.", variable, advice)
}
