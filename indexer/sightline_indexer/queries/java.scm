; hint: \bclass\b|\binterface\b|\benum\b|\brecord\b|\bnew\b[^;{}]*\{
; comments: //
; Definitions of Java: types at any depth, members of named and anonymous classes.

(class_declaration name: (_) @name body: (_) @body) @class
(interface_declaration name: (_) @name body: (_) @body) @interface
(annotation_type_declaration name: (_) @name body: (_) @body) @interface
(enum_declaration name: (_) @name body: (_) @body) @enum
(enum_body_declarations) @body
(record_declaration name: (_) @name body: (_) @body) @class
(record_declaration parameters: (formal_parameters (formal_parameter name: (_) @name) @field))
(enum_constant name: (_) @name body: (_) @body) @enummember
(enum_constant name: (_) @name) @enummember
(method_declaration name: (_) @name body: (block)? @inner) @method
(constructor_declaration name: (_) @name body: (_) @inner) @constructor
(compact_constructor_declaration name: (_) @name body: (_) @inner) @constructor
(annotation_type_element_declaration name: (_) @name) @method
(field_declaration declarator: (variable_declarator name: (_) @name value: (_)? @hinted)) @field
(constant_declaration declarator: (variable_declarator name: (_) @name value: (_)? @hinted)) @constant
(static_initializer) @hinted
(block) @hinted
(lambda_expression body: (_) @body) @scope
