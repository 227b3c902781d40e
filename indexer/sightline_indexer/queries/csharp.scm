; hint: \)\s*(?:\{|=>|where\b)
; comments: //
; Definitions of C#: namespaces, types, members, local functions.

(namespace_declaration name: (_) @name body: (_) @body) @namespace
(file_scoped_namespace_declaration name: (_) @name) @namespace
(class_declaration name: (_) @name body: (_)? @body) @class
(record_declaration name: (_) @name body: (_)? @body) @class
(record_declaration (parameter_list (parameter name: (_) @name) @property))
(struct_declaration name: (_) @name body: (_)? @body) @struct
(interface_declaration name: (_) @name body: (_)? @body) @interface
(enum_declaration name: (_) @name body: (_) @body) @enum
(enum_member_declaration name: (_) @name) @enummember
(delegate_declaration name: (_) @name) @class

(method_declaration name: (_) @name body: (_) @inner) @method
(method_declaration name: (_) @name) @method @declaration
(constructor_declaration name: (_) @name body: (_)? @inner) @constructor
(operator_declaration operator: _ @name body: (_)? @inner) @operator
(conversion_operator_declaration type: (_) @name body: (_)? @inner) @operator
(indexer_declaration "this" @name) @property
(property_declaration name: (_) @name accessors: (_)? @inner) @property
(event_declaration name: (_) @name) @event
(event_field_declaration (variable_declaration (variable_declarator name: (_) @name))) @event
(field_declaration (modifier) @_const (variable_declaration (variable_declarator name: (_) @name)) (#eq? @_const "const")) @constant
(field_declaration (variable_declaration (variable_declarator name: (_) @name))) @field
(local_function_statement name: (_) @name body: (_)? @inner) @function
(global_statement (local_function_statement name: (_) @name body: (_)? @inner) @function)
(declaration_list) @body
(preproc_if) @body
(preproc_else) @body
(preproc_elif) @body
