; bodies: \n(?:func |\)).*\{(?=\r?\n)
; comments: //
; Definitions of Go: package-level names, methods under their receiver's type, fields and interface methods.

(function_declaration name: (identifier) @name body: (block)? @inner) @function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: (_) @container))
  name: (field_identifier) @name
  body: (block)? @inner) @method

(type_declaration (type_spec name: (type_identifier) @name type: (struct_type (field_declaration_list) @body)) @struct)
(type_declaration (type_spec name: (type_identifier) @name type: (interface_type) @body) @interface)
(type_declaration (type_spec name: (type_identifier) @name) @class)
(type_declaration (type_alias name: (type_identifier) @name) @class)

(field_declaration name: (field_identifier) @name type: (struct_type (field_declaration_list) @body)) @field
(field_declaration name: (field_identifier) @name) @field
(method_elem name: (field_identifier) @name) @method @declaration

(const_declaration (const_spec (identifier) @name) @constant)
(var_declaration (var_spec name: (identifier) @name) @variable)
(var_declaration (var_spec_list (var_spec name: (identifier) @name) @variable))
