; bodies: \n([ \t]++)(?!(?:@?[a-z]\w*+(?:\([^()\n]*+\))? )*(?:record|class|interface|enum)\b)[^\n;={}()]*+\([^\n;={}]*+\{(?=\r?\n)
; comments: //
; Definitions of Java: types and their members. What a method or an anonymous class holds has no name outside.

(class_declaration name: (_) @name body: (_) @body) @class
(interface_declaration name: (_) @name body: (_) @body) @interface
(annotation_type_declaration name: (_) @name body: (_) @body) @interface
(enum_declaration name: (_) @name body: (_) @body) @enum
(enum_body_declarations) @body
(record_declaration name: (_) @name body: (_) @body) @class
(record_declaration parameters: (formal_parameters (formal_parameter name: (_) @name) @field))
(enum_constant name: (_) @name body: (_)? @inner) @enummember
(method_declaration name: (_) @name body: (block) @inner) @method
(method_declaration name: (_) @name) @method @declaration
(constructor_declaration name: (_) @name body: (_) @inner) @constructor
(compact_constructor_declaration name: (_) @name body: (_) @inner) @constructor
(annotation_type_element_declaration name: (_) @name) @method @declaration
(field_declaration declarator: (variable_declarator name: (_) @name)) @field
(constant_declaration declarator: (variable_declarator name: (_) @name)) @constant
