//lint:file-ignore SA1019 the suite asks for features that the protocol is giving up

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// newFixtures returns a server with the tools, resources and prompts that the conformance
// suite uses by name. Its results are as small as the suite allows.
func newFixtures() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "fixtures", Version: "test"}, &sdk.ServerOptions{
		CompletionHandler: func(context.Context, *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
			return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: []string{"testing"}}}, nil
		},
		SubscribeHandler:   func(context.Context, *sdk.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *sdk.UnsubscribeRequest) error { return nil },
	})
	for name, content := range contents {
		addTool(s, name, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{Content: content, IsError: name == "test_error_handling"}, nil
		})
	}
	for name, rounds := range questions {
		addTool(s, name, asking(rounds))
	}
	for name, schema := range elicitations {
		addTool(s, name, eliciting(schema))
	}
	for name, handle := range map[string]sdk.ToolHandler{
		"test_tool_with_progress": reportProgress, "test_tool_with_logging": logThrice, "test_logging_tool": logThrice,
		"test_sampling": sample, "test_missing_capability": needSampling,
		"test_trigger_tool_change":   func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return changeTools(s), nil },
		"test_trigger_prompt_change": func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return changePrompts(s), nil },
	} {
		addTool(s, name, handle)
	}
	addResources(s)
	addPrompts(s)
	return s
}

// schemas are the input schemas that the suite requires of some tools.
var schemas = map[string]string{
	"json_schema_2020_12_tool": `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",` +
		`"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},` +
		`"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},` +
		`"phone":{"type":"string"},"email":{"type":"string"}},"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],` +
		`"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},` +
		`"else":{"required":["email"]},"additionalProperties":false}`,
	"test_mirrored_argument": `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`,
}

func addTool(s *sdk.Server, name string, handle sdk.ToolHandler) {
	schema, ok := schemas[name]
	if !ok {
		schema = `{"type":"object"}`
	}
	s.AddTool(&sdk.Tool{Name: name, Description: "A fixture of the conformance suite.", InputSchema: json.RawMessage(schema)}, handle)
}

// dot is an image of one pixel, silence a sound without samples.
var (
	dot = func() []byte {
		var b bytes.Buffer
		if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
			panic(err) // a buffer returns no errors
		}
		return b.Bytes()
	}()
	silence = []byte("RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x00\x00\x00\x00")
)

// contents are the results of tools with constant results.
var contents = map[string][]sdk.Content{
	"test_simple_text":            {say("This is a simple text response for testing.")},
	"test_image_content":          {&sdk.ImageContent{Data: dot, MIMEType: "image/png"}},
	"test_audio_content":          {&sdk.AudioContent{Data: silence, MIMEType: "audio/wav"}},
	"test_embedded_resource":      {embed("test://embedded-resource")},
	"test_multiple_content_types": {say("Several kinds:"), &sdk.ImageContent{Data: dot, MIMEType: "image/png"}, embed("test://mixed-content-resource")},
	"test_error_handling":         {say("This tool always fails.")},
	"json_schema_2020_12_tool":    {say("called")},
	"test_mirrored_argument":      {say("called")},
}

func say(text string) *sdk.TextContent { return &sdk.TextContent{Text: text} }

func embed(uri string) *sdk.EmbeddedResource {
	return &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "An embedded resource."}}
}

func toolResult(text string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{say(text)}}
}

// needsStream reports whether a tool sends notifications before its result, which only a
// stream can carry.
func needsStream(tool string) bool {
	switch tool {
	case "test_tool_with_progress", "test_tool_with_logging", "test_logging_tool", "test_sampling":
		return true
	}
	return elicitations[tool] != ""
}

func reportProgress(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	for _, done := range []float64{0, 50, 100} {
		err := req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: req.Params.GetProgressToken(), Progress: done, Total: 100})
		if err != nil {
			return nil, err
		}
	}
	return toolResult("done"), nil
}

func logThrice(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	for _, step := range []string{"started", "at work", "done"} {
		if err := req.Session.Log(ctx, &sdk.LoggingMessageParams{Level: "info", Data: step}); err != nil {
			return nil, err
		}
	}
	return toolResult("logged"), nil
}

// sample requests a text from the client during the call, as revisions before 2026-07-28 do.
func sample(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	_, err := req.Session.CreateMessage(ctx, &sdk.CreateMessageParams{MaxTokens: 100, Messages: []*sdk.SamplingMessage{{Role: "user", Content: say("Hello?")}}})
	if err != nil {
		return nil, err
	}
	return toolResult("sampled"), nil
}

// elicitations are the schemas of elicitations that tools request during a call.
var elicitations = map[string]string{
	"test_elicitation": `{"type":"object","properties":{"username":{"type":"string"},"email":{"type":"string"}},"required":["username","email"]}`,
	"test_elicitation_sep1034_defaults": `{"type":"object","properties":{"name":{"type":"string","default":"John Doe"},"age":{"type":"integer","default":30},` +
		`"score":{"type":"number","default":95.5},"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},` +
		`"verified":{"type":"boolean","default":true}}}`,
	"test_elicitation_sep1330_enums": `{"type":"object","properties":{"untitledSingle":{"type":"string","enum":["option1","option2"]},` +
		`"titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"One"},{"const":"value2","title":"Two"}]},` +
		`"legacyEnum":{"type":"string","enum":["opt1","opt2"],"enumNames":["One","Two"]},` +
		`"untitledMulti":{"type":"array","items":{"type":"string","enum":["option1","option2"]}},` +
		`"titledMulti":{"type":"array","items":{"anyOf":[{"const":"value1","title":"One"},{"const":"value2","title":"Two"}]}}}}`,
}

func eliciting(schema string) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		answer, err := req.Session.Elicit(ctx, &sdk.ElicitParams{Message: "Please answer.", RequestedSchema: json.RawMessage(schema)})
		if err != nil {
			return nil, err
		}
		return toolResult(answer.Action), nil
	}
}

// needSampling refuses a client that cannot sample.
func needSampling(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	if c := req.ClientCapabilities(); c != nil && c.Sampling != nil {
		return toolResult("the client can sample"), nil
	}
	return nil, &jsonrpc.Error{
		Code: sdk.CodeMissingRequiredClientCapabilities, Message: "the client cannot sample", Data: json.RawMessage(`{"requiredCapabilities":{"sampling":{}}}`),
	}
}

// changeTools and changePrompts change a list, which sends a notification to subscribers.
func changeTools(s *sdk.Server) *sdk.CallToolResult {
	addTool(s, "test_added", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return toolResult("added"), nil
	})
	return toolResult("changed")
}

func changePrompts(s *sdk.Server) *sdk.CallToolResult {
	addPrompt(s, "test_added", func(*sdk.GetPromptRequest) []*sdk.PromptMessage { return nil })
	return toolResult("changed")
}

func addResources(s *sdk.Server) {
	read := func(_ context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		c := &sdk.ResourceContents{URI: req.Params.URI, MIMEType: "text/plain", Text: "The content of " + req.Params.URI}
		if strings.HasSuffix(c.URI, "binary") {
			c = &sdk.ResourceContents{URI: c.URI, MIMEType: "image/png", Blob: dot}
		}
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{c}}, nil
	}
	for _, name := range []string{"static-text", "static-binary", "watched-resource"} {
		s.AddResource(&sdk.Resource{Name: name, Description: "A fixture.", URI: "test://" + name}, read)
	}
	s.AddResourceTemplate(&sdk.ResourceTemplate{Name: "template", Description: "A fixture.", URITemplate: "test://template/{id}/data"}, read)
}

func addPrompts(s *sdk.Server) {
	said := func(content sdk.Content) *sdk.PromptMessage {
		return &sdk.PromptMessage{Role: "user", Content: content}
	}
	addPrompt(s, "test_simple_prompt", func(*sdk.GetPromptRequest) []*sdk.PromptMessage {
		return []*sdk.PromptMessage{said(say("A simple prompt."))}
	})
	addPrompt(s, "test_prompt_with_arguments", func(req *sdk.GetPromptRequest) []*sdk.PromptMessage {
		return []*sdk.PromptMessage{said(say(fmt.Sprintf("arg1=%q, arg2=%q", req.Params.Arguments["arg1"], req.Params.Arguments["arg2"])))}
	}, "arg1", "arg2")
	addPrompt(s, "test_prompt_with_embedded_resource", func(req *sdk.GetPromptRequest) []*sdk.PromptMessage {
		return []*sdk.PromptMessage{said(embed(req.Params.Arguments["resourceUri"])), said(say("Read this."))}
	}, "resourceUri")
	addPrompt(s, "test_prompt_with_image", func(*sdk.GetPromptRequest) []*sdk.PromptMessage {
		return []*sdk.PromptMessage{said(&sdk.ImageContent{Data: dot, MIMEType: "image/png"}), said(say("Look at this."))}
	})
	s.AddPrompt(&sdk.Prompt{Name: "test_input_required_result_prompt", Description: "A fixture."}, askingPrompt)
}

func addPrompt(s *sdk.Server, name string, messages func(*sdk.GetPromptRequest) []*sdk.PromptMessage, args ...string) {
	p := &sdk.Prompt{Name: name, Description: "A fixture."}
	for _, a := range args {
		p.Arguments = append(p.Arguments, &sdk.PromptArgument{Name: a, Required: true})
	}
	s.AddPrompt(p, func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return &sdk.GetPromptResult{Messages: messages(req)}, nil
	})
}
